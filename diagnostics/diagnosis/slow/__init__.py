"""Signatures D8xx: a job that ends well and takes much longer than it must. Only what is big and sure is told."""
