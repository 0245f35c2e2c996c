"""Signatures D3xx: ranks wait for ever or too long."""
