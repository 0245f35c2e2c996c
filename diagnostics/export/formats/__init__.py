"""Formats that a record is exported to, one a file: FORMAT, HELP, OPENS, `files(trace) -> {name: bytes}`.

DIR in OPENS is the folder that they are written into.
"""
