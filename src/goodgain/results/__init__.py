"""Results: saved as JSON, as data frames, as text, and as pages."""
