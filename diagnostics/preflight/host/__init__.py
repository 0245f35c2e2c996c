"""Probes P1xx: Python, torch, drivers, limits, disks, memory of this host."""
