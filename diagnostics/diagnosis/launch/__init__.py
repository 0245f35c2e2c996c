"""Signatures D1xx: the job never came together: launcher, environment, ports, devices, limits."""
