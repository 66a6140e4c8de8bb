"""Strategies for static allocation."""
