"""A job's modules: differences between ranks, unused parameters, in-place writes, wrap sites."""
