"""Signatures D2xx: a process failed: exceptions, signals, memory, workers."""
