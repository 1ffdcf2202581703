"""What people look at: charts, pictures of them, and pages."""
