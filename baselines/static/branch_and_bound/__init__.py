"""Branch and bound over canonical placements, after minimalloc and TelaMalloc."""
