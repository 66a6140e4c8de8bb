"""Programs exported from PyTorch (docs/doors.md)."""
