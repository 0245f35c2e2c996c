"""Signatures D5xx: a job that says success, and trained wrongly."""
