"""One module per trace format, or per family of formats that share a shape."""
