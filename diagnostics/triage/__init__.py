"""Triage of runs that are over, or seem to be: what trackers, launchers and logs left, as one table with verdicts.

trace.py       the contract: a RunTrace is what one source says of one run; Folder is what a reader looks into
decoding/      bytes to records: LevelDB-like logs, TFRecord, protobuf; Python's and ISO's times
readers/       one source a file, found by its KIND: `find(folder)` and `read(path)`
run.py         a TrackedRun is all traces of one run; joining.py says which belong together
verdicts/      one verdict a file, found by its ORDER: `judge(run, known)`; the first that speaks holds
contrasts.py   what those that died have and those that lived have not
engine.py      leads: walk, read, join, judge, contrast
table.py, page.py   the terminal, Markdown and HTML

Nothing is imported from a tracker, nothing is executed, and of a server only `readers/` that are asked by name know.
"""
