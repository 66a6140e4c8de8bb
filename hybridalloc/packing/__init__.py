"""Offsets: rectangles of time and bytes packed into fast memory."""
