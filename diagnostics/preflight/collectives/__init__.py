"""Probes P4xx: each collective gives the right values, in time."""
