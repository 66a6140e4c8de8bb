"""Memory mapping for compiled ML programs."""
