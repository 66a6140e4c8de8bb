"""Exact models on OR-Tools' CP-SAT."""
