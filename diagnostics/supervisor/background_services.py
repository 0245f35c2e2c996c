"""Which processes outlive a job because they were meant to, and what ties the others to it.

A process is left alone where it has left the job's session, or does not hear a hang-up while we do (nohup), and has
none of the job's output open: without the doctor it would live on, too. Ranks get a session of their own from
launchers and not from a wish to stay: they are what a job that is over has left. So is what multiprocessing started,
unless the process that started it lives and stays.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal

from diagnostics.core import redaction
from diagnostics.dynamic.job.process_kinds import MULTIPROCESSING
from diagnostics.machine.processes.attachment import attachment, ignores_hangup
from diagnostics.machine.processes.job_processes import JobTree, Member
from diagnostics.supervisor.background_jobs import trains

Wish = Literal["services stay", "all stay", "all end"]
Files = Collection[tuple[int, int]]
MOST_NAMED = 5  # on the screen; all of them are in job.json
_LONGEST = 60
_WORKER = "it is one of multiprocessing's"
_RANK_VARIABLES = ("RANK", "LOCAL_RANK")


class Leftovers:
    """What of one job still lives. `output` gives (device, inode) of all that is the job's output."""

    def __init__(self, tree: JobTree, wish: Wish, agents: Path, output: Callable[[], Files]) -> None:
        self._tree, self._wish, self._agents, self._output = tree, wish, agents, output
        self._session, self._deaf = os.getsid(0), ignores_hangup(os.getpid())
        self._stopped = self._hung = False

    def stop(self, *, hung: bool) -> None:
        """Somebody ends the job: now no more stays than what left it. What trains is what hung."""
        self._stopped, self._hung = True, hung
        self._deaf |= ignores_hangup(self._tree.root.pid)  # the job as a whole, then

    def to_end(self) -> dict[int, int]:
        """Returns {pid: start ticks} of the living ones that end with the job."""
        living = self._tree.living()
        if self._wish == "all end":
            return living
        if self._wish == "all stay" and not self._stopped:
            return {}
        by_pid = {member.pid: member for member in self._tree.members.values()}
        return {pid: start for pid, start in living.items() if self._tie(by_pid[pid], by_pid)}

    def _tie(self, member: Member, by_pid: Mapping[int, Member]) -> str:
        """Returns what ties a process to the job, "" where it has left."""
        if member is self._tree.root:
            return "it is CMD itself"
        now = attachment(member.pid)
        if now is None:
            return "it is ending"
        kind = _kind(member, by_pid)
        if kind == _WORKER and now.parent in by_pid and not self._tie(by_pid[now.parent], by_pid):
            return ""
        if kind:
            return kind
        if now.session == self._session and (self._deaf or not now.ignores_hangup):
            return "it is in CMD's session"
        leader = by_pid.get(now.session)
        if leader is not None and (kind := _kind(leader, by_pid)):
            return f"its session is that of pid {leader.pid}: {kind}"
        if now.files is not None and not now.files.isdisjoint(self._output()):
            return "it has CMD's output open"
        return "it trains" if self._hung and trains(member, self._agents) else ""

    def writing(self, pids: Collection[int]) -> bool:
        """Whether one of them has the job's output open."""
        output = self._output()
        found = (attachment(pid) for pid in pids)
        return any(one is not None and one.files is not None and not one.files.isdisjoint(output) for one in found)

    def said_of_ended(self, pids: Collection[int]) -> list[str]:
        """Returns the lines that name what is ended, and why."""
        by_pid = {member.pid: member for member in self._tree.members.values()}
        asked = "--end-background" if self._wish == "all end" else ""
        why = {pid: asked or self._tie(by_pid[pid], by_pid) for pid in pids}
        return _first([f"ending {self._named(pid)}, which CMD left: {why[pid]}" for pid in why], "ended")

    def said_of_others(self, pids: Collection[int]) -> list[str]:
        """Returns the lines that name what goes on."""
        return _first([f"{self._named(pid)} goes on without CMD; the doctor leaves it alone" for pid in pids], "left")

    def _named(self, pid: int) -> str:
        argv = next((member.argv for member in self._tree.members.values() if member.pid == pid), ())
        words = " ".join(map(shlex.quote, redaction.argv(argv))).replace("\n", " ")
        return f"pid {pid} ({words if len(words) <= _LONGEST else words[: _LONGEST - 3] + '...'})"


def _first(lines: list[str], done: str) -> list[str]:
    more = len(lines) - MOST_NAMED
    return lines if more <= 0 else [*lines[:MOST_NAMED], f"{more} more are {done}, see record/job.json"]


def _kind(member: Member, by_pid: Mapping[int, Member]) -> str:
    """Returns what a process is that no one starts in order to leave it alone, "" for all others."""
    if any(MULTIPROCESSING.search(word) for word in member.argv):
        return _WORKER
    for name in _RANK_VARIABLES:
        if _own_variable(name, member, by_pid):
            return f"it is a rank ({name}={(member.variables or {})[name]})"
    return ""


def _own_variable(name: str, member: Member, by_pid: Mapping[int, Member]) -> bool:
    """Whether a launcher gave it this variable: whoever started it had another value, or none."""
    value = (member.variables or {}).get(name)
    if value is None or value == os.environ.get(name):
        return False
    parent = by_pid.get(member.ppid)
    if parent is not None:
        return (parent.variables or {}).get(name) != value
    # Nobody saw who started it. The first process with these variables is the rank, later ones inherited them.
    same = (one for one in by_pid.values() if one.variables == member.variables)
    return min(same, key=lambda one: one.start_ticks, default=member) is member
