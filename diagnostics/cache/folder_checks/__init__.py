"""Checks C15x across the files of a folder, one a file; found by their CODE."""
