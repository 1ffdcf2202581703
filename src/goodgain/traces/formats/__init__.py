"""One module for each trace format, with its `FORMAT`; `goodgain.traces.registry` lists them."""
