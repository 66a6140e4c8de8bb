"""The agent MuZero for mallocGame (arXiv 2305.07440)."""
