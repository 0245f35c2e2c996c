"""record/job.json while a job runs: what the supervisor knows by now, written whole, not too often."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.files import write_private
from diagnostics.machine.processes.job_processes import Member
from diagnostics.record.supervisor_facts import End, Missing, SeenProcess, SentSignal, SupervisorFacts

LEAST_S = 0.2  # between two writings
SHARE = 0.01  # of the time may go into writing


class JobFactsFile:
    """Keeps job.json true. Without room on the disk it goes on in memory; `problem` says why."""

    def __init__(self, path: Path, *, command: Sequence[str], cwd: str, started_ns: int, python: str) -> None:
        self._path = path
        self.started_ns = started_ns
        self._known: dict[str, Any] = {
            "command": redaction.argv(command), "cwd": cwd, "started_ns": started_ns, "python": python,
        }  # fmt: skip
        self._around: Mapping[str, Any] = {}
        self._processes: tuple[SeenProcess, ...] = ()
        self.sent: list[SentSignal] = []
        self.missing: list[Missing] = []
        self._next = 0.0
        self.problem = ""

    def set(self, **facts: Any) -> None:
        """Sets single facts."""
        self._known.update(facts)

    def surround(self, facts: Mapping[str, Any]) -> None:
        """Sets what is known of the machine; `missing` among it is kept beside ours."""
        self._around = dict(facts)

    def see(self, members: Iterable[Member]) -> None:
        """Takes the processes as they are now."""
        self._processes = tuple(map(_seen, members))

    def facts(self) -> SupervisorFacts:
        """Returns all of it."""
        missing = (*self._around.get("missing", ()), *self.missing)
        around = {**self._around, "missing": tuple(dict.fromkeys(missing))}
        return SupervisorFacts(**self._known, **around, processes=self._processes, sent=tuple(self.sent))

    def due(self) -> bool:
        """Whether it may be written again."""
        return time.monotonic() >= self._next

    def write(self) -> None:
        """Writes the file; a reader sees the old one or the new one."""
        began = time.monotonic()
        text = json.dumps(asdict(self.facts()), indent=1) + "\n"
        try:
            write_private(self._path, text)
            self.problem = ""
        except OSError as error:
            self.problem = f"{self._path}: {error.strerror or error}"
        cost = time.monotonic() - began
        self._next = began + max(LEAST_S, cost / SHARE)


def _seen(member: Member) -> SeenProcess:
    return SeenProcess(
        pid=member.pid,
        start_ticks=member.start_ticks,
        ppid=member.ppid,
        argv=redaction.argv(member.argv),
        variables=member.variables or {},
        first_seen_s=round(member.seen_s, 3),
        end=end_of(member),
    )


def end_of(member: Member) -> End | None:
    """Returns how a process ended, None where it lives."""
    if member.ended_s is None:
        return None
    at_s = round(member.ended_s, 3)
    if member.status is None:
        return End(at_s=at_s)
    if os.WIFSIGNALED(member.status):
        return End(signal=os.WTERMSIG(member.status), at_s=at_s, source=member.source)
    return End(exit_code=os.WEXITSTATUS(member.status), at_s=at_s, source=member.source)
