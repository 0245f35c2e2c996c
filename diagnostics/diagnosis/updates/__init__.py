"""Signatures D9xx: steps that use other gradients or rates than were meant, or whose result is lost."""
