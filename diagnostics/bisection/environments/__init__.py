"""Other versions of torch: planned, installed into kept environments, compared."""
