"""Static allocation: one memory, known lifetimes, offsets to choose."""
