"""A map in the making, whose time and validity are kept up to date as it changes."""
