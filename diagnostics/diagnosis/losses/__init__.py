"""Signatures D9xx: what a loss was given does not say what it was meant to say."""
