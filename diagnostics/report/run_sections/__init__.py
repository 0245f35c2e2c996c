"""Sections of the report of a run, one a file, in the order of their ORDER."""
