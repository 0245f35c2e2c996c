"""Signatures D9xx: schedules of the learning rate, and averages, that say and do something else than was meant."""
