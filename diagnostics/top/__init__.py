"""A job at a glance while it runs: one row a rank, those that hold the others up first; also of a recorded run.

`standing.py` is the contract and says who waits for whom, `screen.py` makes lines of at most so many columns
of it; both are pure. `live_ranks.py` asks agents' files and /proc, `recorded.py` a record. The command draws.
"""
