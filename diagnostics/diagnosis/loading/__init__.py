"""Signatures D9xx: batches that a loader hands over and that are not trained on."""
