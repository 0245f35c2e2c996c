"""Signatures D9xx: random numbers that are drawn where none are meant to be, or the same ones over and over."""
