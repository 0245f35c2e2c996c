"""Formats of cache files, one a file; found by their CODE. `recognise` and `scan` are pure over bounded bytes."""
