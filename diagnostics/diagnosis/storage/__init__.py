"""Signatures D7xx: files on disk that fail a job."""
