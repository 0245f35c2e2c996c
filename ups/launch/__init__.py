"""Ways to start the ranks of a run, one a file, and what the ranks tell the launcher."""
