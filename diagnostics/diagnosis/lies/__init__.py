"""Signatures D4xx: a job that says success, and failed or did nothing."""
