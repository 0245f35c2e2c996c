"""Signatures D9xx: a job that trains wrongly, as each rank by itself shows: gradients, modes, rates, states."""
