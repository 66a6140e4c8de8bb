"""Many trials of strategies on programs, each in a process of its own, and their sums.

Running and data only; ``hybridalloc.report.benchmark`` writes reports.
"""
