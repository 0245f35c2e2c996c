"""Signatures D9xx: what a loss was given, or leads back to, is not what it was meant to be."""
