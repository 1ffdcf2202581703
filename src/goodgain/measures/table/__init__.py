"""The measures, one module per family."""
