"""Probes P5xx: devices compute right and alike, and have memory."""
