"""Probes P2xx (stage launch) and P3xx: ports, launcher, process groups."""
