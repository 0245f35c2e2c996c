"""Sections of the report of checks, one a file, in the order of their ORDER."""
