"""`ups-doctor run`: starts a job, watches it, passes signals on, keeps what it says, ends it.

`supervise.py` leads, `event_loop.py` turns. `hang/` says when a job stands still and proves deadlocks, `capture/` takes
what a verdict needs from living and dying processes.
"""
