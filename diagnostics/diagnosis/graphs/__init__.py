"""Signatures D9xx: graphs behind a loss that lead elsewhere than was meant: past what learns, to one step alone."""
