"""Statistics over results: how far labels can be trusted."""
