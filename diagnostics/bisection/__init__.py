"""`ups-doctor bisect-model`: from a failing model to the smallest module and the settings that the failure needs.

Here: the values that all parts share (a configuration, a trial, what was found) and `engine.py`, which leads.
`targets/` makes a failing configuration of what the user named, `tries/` runs and remembers trials, `search/` decides
which, `repro/` writes the script, `environments/` runs it elsewhere, `report/` tells of it.
"""
