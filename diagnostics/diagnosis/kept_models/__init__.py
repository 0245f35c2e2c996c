"""Signatures D9xx: models that are kept beside the one that is trained, or saved: copies, averages, adapters."""
