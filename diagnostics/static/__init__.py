"""What can be said of source files without running them. Reads text and nothing else."""
