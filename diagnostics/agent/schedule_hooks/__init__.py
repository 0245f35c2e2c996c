"""Schedules of the learning rate: what they are given, and whether they go on where a run that is resumed had ended."""
