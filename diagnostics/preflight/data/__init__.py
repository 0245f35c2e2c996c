"""Probes P6xx: caches, data files, what each rank reads."""
