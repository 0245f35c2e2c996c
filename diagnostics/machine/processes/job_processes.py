"""Every process of one job, wherever launchers put it, and how each ended.

The caller is a subreaper, so whatever the job starts stays below it: what is below the job's first process, and what
is below a child of ours that we did not start. Our own programs are told by a variable that only they inherit.
"""

from __future__ import annotations

import os
import resource
import select
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.processes.descendants import MARK
from diagnostics.machine.processes.pidfds import (
    open_pidfd,
    reaped_status,
    send_signal,
    stat_words,
    zombie_status,
)
from diagnostics.machine.processes.processes import LAUNCHER_VARIABLES

OWN = "UPS_DOCTOR_OWN"  # in our own environment, never in the job's
MOST = 4096  # processes remembered; of a job that starts programs for ever, those that ended well are forgotten first
FORK_LOOKS = 3
SPARE_FILES = 64
_ORPHAN_S = 2.0  # an unknown zombie child may be a program of ours that is about to be waited for


@dataclass(slots=True)
class Member:
    """One process. `status` is a wait status; `end_known` tells "unknown" from "not yet"."""

    pid: int
    start_ticks: int
    ppid: int
    seen_s: float
    argv: tuple[str, ...] = ()
    variables: dict[str, str] | None = None
    cwd: str = ""
    looks: int = 0
    pidfd: int | None = None
    ended_s: float | None = None
    status: int | None = None
    source: str = ""
    settled: bool = False  # nothing more will be learned about its end


class JobTree:
    """Follows a job, whose first process was started as `command`.

    `clock` gives seconds since it started; `poll` is told of the ends to wait for.
    """

    def __init__(
        self, root: int, command: Sequence[str], mark: str, poll: select.epoll, clock: Callable[[], float]
    ) -> None:
        self._root, self._poll, self._clock = root, poll, clock
        self._mark = f"\0{MARK}={mark}".encode()
        self._own_words = _command(os.getpid())
        self._not_ours: set[int] = set()  # direct children that are the doctor's own
        self._zombies: dict[int, float] = {}
        self._by_fd: dict[int, Member] = {}
        self.members: dict[tuple[int, int], Member] = {}
        self.changed = True
        self._add(root)
        if not self.root.argv:  # it ended before it could be looked at
            self.root.argv = tuple(command)

    @property
    def root(self) -> Member:
        """The process that the doctor started."""
        return next(member for member in self.members.values() if member.pid == self._root)

    def living(self) -> dict[int, int]:
        """Returns {pid: start ticks} of all that have not ended, in the order in which they were seen."""
        return {member.pid: member.start_ticks for member in self.members.values() if member.ended_s is None}

    def look(self) -> None:
        """Finds new processes and the ends that no descriptor tells."""
        stats = _all_stats()
        for pid in self._below(stats):
            known = self.members.get((pid, stats[pid][2]))
            if known is None and stats[pid][1] not in "ZX":
                self._add(pid)
            elif known is not None and known.looks < FORK_LOOKS:
                known.looks += 1
                self._describe(known)  # it may have been seen between fork and exec
        for member in self.members.values():
            if member.ended_s is None and member.pidfd is None:
                self._see_without_descriptor(member, stats)
        self._reap_orphans(stats)

    def owns(self, fd: int) -> bool:
        """Whether this descriptor belongs to a process of the job."""
        return fd in self._by_fd

    def ended(self, fd: int) -> Member | None:
        """Takes an event of one descriptor; returns the process where its end is news."""
        member = self._by_fd[fd]
        news = member.ended_s is None
        if news:
            member.ended_s = self._clock()
            self.changed = True
        self._learn(member)
        if member.settled:
            self._close(member)
        else:
            self._poll.modify(fd, 0)  # the next event is that its parent has reaped it
        return member if news else None

    def settle(self) -> None:
        """Takes what can be known of ends whose parents have not waited."""
        for member in list(self._by_fd.values()):
            if member.ended_s is not None:
                self._learn(member)
                if member.settled:
                    self._close(member)

    def _learn(self, member: Member) -> None:
        before = member.status
        if member.status is None:
            member.status, member.source = self._status(member)
        if member.status is not None or (member.pidfd is not None and _is_reaped(member.pidfd)):
            member.settled = True
        self.changed |= member.status != before

    def _status(self, member: Member) -> tuple[int | None, str]:
        words = stat_words(member.pid)
        if words is not None and int(words[19]) == member.start_ticks and int(words[1]) == os.getpid():
            try:
                pid, status = os.waitpid(member.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = 0, 0
            if pid:
                return status, "supervisor-wait"
        status_or_none = zombie_status(member.pid, member.start_ticks)
        if status_or_none is None and member.pidfd is not None:
            status_or_none = reaped_status(member.pidfd)
        return status_or_none, "pidfd" if status_or_none is not None else ""

    def _see_without_descriptor(self, member: Member, stats: dict[int, tuple[int, str, int]]) -> None:
        now = stats.get(member.pid)
        if now is None or now[2] != member.start_ticks or now[1] in "ZX":
            member.ended_s = self._clock()
            member.status, member.source = self._status(member)
            member.settled, self.changed = True, True

    def _close(self, member: Member) -> None:
        if member.pidfd is not None:
            self._by_fd.pop(member.pidfd, None)
            self._poll.unregister(member.pidfd)
            os.close(member.pidfd)
            member.pidfd = None

    def _add(self, pid: int) -> None:
        words = stat_words(pid)
        if words is None:
            return
        member = Member(pid=pid, start_ticks=int(words[19]), ppid=int(words[1]), seen_s=self._clock())
        member.pidfd = open_pidfd(pid, member.start_ticks)
        self._describe(member)
        if len(self.members) >= MOST:
            self._forget_one()
        self.members[pid, member.start_ticks] = member
        self.changed = True
        if member.pidfd is not None and member.pidfd >= _most_files() and pid != self._root:
            os.close(member.pidfd)
            member.pidfd = None
        if member.pidfd is not None:
            self._by_fd[member.pidfd] = member
            self._poll.register(member.pidfd, select.EPOLLIN)

    def _forget_one(self) -> None:
        well = (key for key, one in self.members.items() if one.settled and one.status == 0 and one.pid != self._root)
        key = next(well, None)
        if key is not None:
            del self.members[key]

    def _describe(self, member: Member) -> None:
        words = _command(member.pid)
        if words and words != self._own_words and words != member.argv:
            member.argv, self.changed = words, True
            member.variables = _variables(member.pid)
            member.cwd = _folder(member.pid)

    def _below(self, stats: dict[int, tuple[int, str, int]]) -> Iterator[int]:
        children: dict[int, list[int]] = {}
        for pid, (ppid, _, _) in stats.items():
            children.setdefault(ppid, []).append(pid)
        pending = [pid for pid in children.get(os.getpid(), ()) if self._is_jobs(pid, stats)]
        self._not_ours &= set(children.get(os.getpid(), ()))
        while pending:
            pid = pending.pop()
            yield pid
            pending += children.get(pid, ())

    def _is_jobs(self, pid: int, stats: dict[int, tuple[int, str, int]]) -> bool:
        if pid == self._root or (pid, stats[pid][2]) in self.members:
            return True
        if pid in self._not_ours or stats[pid][1] in "ZX":
            return False
        # Between fork and exec a program of ours still looks like ourselves, in both: words that are read first and
        # are others than ours say that the variables read after them are its own.
        command = _command(pid)
        environ = _environ(pid)
        if environ is None or self._mark in environ:
            return environ is not None
        if f"\0{OWN}=".encode() in environ:
            self._not_ours.add(pid)
            return False
        return command != self._own_words

    def _reap_orphans(self, stats: dict[int, tuple[int, str, int]]) -> None:
        """Waits for orphans that ended before anybody saw them."""
        now = time.monotonic()
        known = {pid for pid, _ in self.members}
        unknown = {pid for pid, (ppid, state, _) in stats.items() if ppid == os.getpid() and state == "Z"} - known
        self._zombies = {pid: self._zombies.get(pid, now) for pid in unknown - self._not_ours}
        for pid, since in self._zombies.items():
            if now - since > _ORPHAN_S:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    continue


def _most_files() -> int:
    """Returns the number from which on descriptors are left to all else: without any, not even /proc can be read."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft - min(SPARE_FILES, soft // 4) if soft > 0 else MOST


def signal_all(pids: Collection[tuple[int, int]], number: int) -> list[int]:
    """Sends a signal to each (pid, start ticks) that is still the same process; returns those that were reached."""
    return [pid for pid, start in pids if send_signal(pid, start, number)]


def _all_stats() -> dict[int, tuple[int, str, int]]:
    """Returns {pid: (parent, state, start)} of all processes."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all we need
        if name.isdigit() and (words := stat_words(int(name))) is not None:
            found[int(name)] = (int(words[1]), words[0], int(words[19]))
    return found


def _is_reaped(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _command(pid: int) -> tuple[str, ...]:
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return tuple(word.decode("utf-8", "replace") for word in data.removesuffix(b"\0").split(b"\0")) if data else ()


def _folder(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


def _environ(pid: int) -> bytes | None:
    try:
        return b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, or another user's
        return None


def _variables(pid: int) -> dict[str, str]:
    pairs = (entry.partition(b"=")[::2] for entry in (_environ(pid) or b"").split(b"\0"))
    known = {name.decode("ascii", "replace"): value.decode("utf-8", "replace") for name, value in pairs if name}
    return {name: known[name] for name in LAUNCHER_VARIABLES if name in known and name != MARK}
