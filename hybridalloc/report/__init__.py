"""What people look at: tables, pictures and traces."""
