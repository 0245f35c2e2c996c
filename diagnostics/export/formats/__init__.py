"""Formats that a record is exported to, one a file: FORMAT, HELP, OPENS, `files(trace) -> {name: bytes}`."""
