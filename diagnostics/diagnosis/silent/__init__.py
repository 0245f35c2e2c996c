"""Signatures D4xx and D5xx: a job that says success and lies."""
