"""What commands do with CSV files of buffers."""
