"""Checks A9xx over what was observed, one a file; found by their CODE."""
