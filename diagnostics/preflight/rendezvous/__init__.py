"""Probes P2xx and P3xx: ports, launcher, process groups."""
