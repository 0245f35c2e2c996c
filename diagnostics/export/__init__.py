"""A record as a trace for other tools. Knows the JobTrace of core/job_trace.py and nothing of records or machines.

`formats/` has one format a file, found by its FORMAT: HELP, OPENS (where to look at it) and `files(trace)`, which
returns the bytes of each file by name. `flat_events.py` is what most are made of: spans on named tracks.
"""
