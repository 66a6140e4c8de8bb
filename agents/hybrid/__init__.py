"""Agents together with other strategies."""
