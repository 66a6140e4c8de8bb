"""Baseline strategies: one a module, named as in its source."""
