"""Finds every process that a child left behind, however hard it tried to get away.

Three nets, since each has a hole: descendants (a double fork leaves them), the session (setsid leaves
it), and a mark in the environment it was started with (only a program that wipes it escapes that).
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "UPS_DOCTOR_CHILD"  # inherited by every descendant; nested marks extend the outer one
_PATIENCE_S = 5.0  # killed processes that the kernel has not ended by then sit in a system call


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinship:
    """The fields of /proc/PID/stat that tell who belongs to whom."""

    pid: int
    state: str
    ppid: int
    session: int


def read_stat(pid: int) -> Kinship | None:
    """Returns a process's relations, None where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command stands in parentheses and may itself hold spaces and parentheses.
    state, ppid, _group, session = text[text.rindex(")") + 2 :].split()[:4]
    return Kinship(pid=pid, state=state, ppid=int(ppid), session=int(session))


def all_stats() -> dict[int, Kinship]:
    """Returns every process that is alive, by pid; zombies and dying ones are left out."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - names are all we need
    found = {stat.pid: stat for pid in pids if (stat := read_stat(pid)) is not None}
    return {pid: stat for pid, stat in found.items() if stat.state not in "ZX"}


def descendants(root: int, stats: dict[int, Kinship]) -> set[int]:
    """Returns the pids below `root`, without itself."""
    children: dict[int, list[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.ppid, []).append(stat.pid)
    found: set[int] = set()
    pending = [root]
    while pending:
        below = [pid for pid in children.get(pending.pop(), ()) if pid not in found]
        found.update(below)
        pending.extend(below)
    return found


def family(root: int, mark: str) -> set[int]:
    """Returns every living process that `root` started, and `root` itself."""
    stats = all_stats()
    found = descendants(root, stats) | {pid for pid, stat in stats.items() if stat.session == root}
    found |= {pid for pid in stats if pid not in found and _is_marked(pid, mark)}
    if root in stats:
        found.add(root)
    return found - {os.getpid()}


def end_family(root: int, mark: str) -> set[int]:
    """Kills the family of `root` until none is left; returns the pids that would not die.

    Sweeps again after each kill: a process may fork between the look and the signal.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while (alive := family(root, mark)) and time.monotonic() < deadline:
        for pid in alive:
            _kill(pid)
        time.sleep(0.002)
    return alive


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone already, or it became another user's
        return


def _is_marked(pid: int, mark: str) -> bool:
    try:
        block = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, or another user's: then it is not ours
        return False
    return f"\0{MARK}={mark}".encode() in b"\0" + block
