"""`ups-doctor perf`: why N ranks are not N times as fast, from the record of one watched run.

Here: the answer (`answer.py`), and `engine.py`, which makes it of a record; `changes.py` says what would give most,
`command_line.py` makes the line of one rank of that of many, `page.py`, `terminal.py`, `json_text.py` and `pictures.py`
show it. What the steps tell is asked of `dynamic/steps/`.
"""
