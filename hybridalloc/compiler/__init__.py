"""The TPU compiler in a process of its own, and what it tells of a program."""
