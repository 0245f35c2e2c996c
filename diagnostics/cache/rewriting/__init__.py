"""Patches: which bytes of a file are replaced by which, by format."""
