"""How many CPUs a process uses, and what that says of it: the borders between computing, working, polling and starving.

Shares are CPU seconds by seconds that passed. What beats a heart or reports takes 0.01 to 0.02, a rank that computes 1.
"""

from __future__ import annotations

COMPUTES = 0.5  # from here on a process computes, whatever its stack says; below, it may be proved to wait
WORKS = 0.2  # from here on some thread of the process is at work, on average over some seconds; below, all wait
POLLS = 0.05  # below this one thread, or a worker that waits for orders, only asks now and then
STARVES = 0.02  # below this a process that never sleeps gets no CPU; ten times that after a few looks only
OURS = 0.02  # the most that looking at a job may take of a CPU itself
