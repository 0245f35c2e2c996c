"""Bytes to records, pure: no reader, no run. What cannot be decoded ends a file's records, and is said."""
