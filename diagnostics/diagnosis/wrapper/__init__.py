"""Signatures D6xx: what DDP and FSDP ask of a model and did not get."""
