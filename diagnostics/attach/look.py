"""Looks at a job that runs without the doctor, from outside: nothing is sent to it, stopped in it or written for it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.attach.job_of_pid import ForeignJob, process_of
from diagnostics.attach.rank_guess import guess_ranks
from diagnostics.core import redaction
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.job.process_list import MergedProcess
from diagnostics.dynamic.job.process_roles import ProcessRoles
from diagnostics.dynamic.job.stack_classifier import classify, is_data_worker, is_library, worker_frames
from diagnostics.dynamic.stall.motion import Observation, moved
from diagnostics.dynamic.stall.stack_prefix_tree import ProcessStack
from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.activity import read_activity
from diagnostics.machine.processes.ptrace_access import what_would_help
from diagnostics.machine.processes.python_stacks import (
    NONBLOCKING,
    FrameWithValues,
    PythonThread,
    StacksRefusedError,
    find_py_spy,
    one_look,
)
from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.capture.snapshot import MOST_PROCESSES, NO_PY_SPY

ONE_S = 3.0  # for one process's stacks; 10 ms as a rule
NATIVE_S = 30.0  # with C++ frames; 1 s as a rule
_MOST_VALUES, _MOST_TEXT = 12, 80
_AGENT = re.compile(r"/diagnostics/agent/(?:[a-z_]+/)?[a-z_]+\.py$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LookOptions:
    """How to look."""

    seconds: float = 1.0
    looks: int = 2  # at least
    pause_s: float | None = None  # between two of them; None: all of `seconds`
    native: bool = False  # C++ frames, too: stops each process for as long as that takes
    local_values: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSnapshot:
    """What was seen. `threads` are all of the last look by pid; `missing` says what could not be read and why."""

    job: ForeignJob
    standings: tuple[ProcessStack, ...]
    looks: Mapping[int, tuple[Observation, ...]]
    threads: Mapping[int, tuple[PythonThread, ...]]
    missing: tuple[Missing, ...]
    ended: tuple[int, ...]  # processes that were gone at the last look
    seconds: float
    refused: bool = False
    ranks: Mapping[int, int] = field(default_factory=dict)  # by pid, those that nothing but their stacks names


def take_snapshots(
    job: ForeignJob,
    options: LookOptions,
    show: Callable[[str], None],
    each: Callable[[], None] = lambda: None,
) -> JobSnapshot:
    """Looks again and again for `options.seconds`; what cannot be read is in `missing`.

    `show` is told what is done, `each` is called after every look.
    """
    eyes = _Eyes(job, options)
    began = time.monotonic()
    while True:
        show(f"looking at {len(eyes.pids)} processes")
        started = time.monotonic()
        eyes.look(started - began)
        each()
        now = time.monotonic()
        if now - began >= options.seconds and eyes.rounds >= options.looks:
            break
        # The last look comes when the time is up; half of it at least is left to the job.
        rest = max(options.seconds - (now - began), 0.0)
        time.sleep(rest if options.pause_s is None else min(max(options.pause_s, now - started), rest))
    seconds = time.monotonic() - began
    if options.native:
        show("reading C++ frames")
        eyes.look_closely()
    return eyes.seen(seconds)


class _Eyes:
    """The looks at one job."""

    def __init__(self, job: ForeignJob, options: LookOptions) -> None:
        self._job, self._options = job, options
        self._processes = [process_of(row) for row in job.members]
        self.pids = [row.pid for row in job.members][:MOST_PROCESSES]
        self._python = {process.pid for process in self._processes if process.is_python}
        self._program = find_py_spy()
        self._looks: dict[int, list[Observation]] = {pid: [] for pid in self.pids}
        self._threads: dict[int, tuple[PythonThread, ...]] = {}
        self._native: dict[int, tuple[Frame, ...]] = {}
        self._problems: dict[int, str] = {}
        self._refused = ""
        self.rounds = 0

    def look(self, at_s: float) -> None:
        """Reads every process once."""
        self.rounds += 1
        state = {pid: read_activity(pid) for pid in self.pids}
        self._read_stacks([pid for pid in self.pids if state[pid] is not None], NONBLOCKING)
        for pid in self.pids:
            read = pid not in self._problems and state[pid] is not None
            threads = self._threads.get(pid, ()) if read else ()
            self._looks[pid].append(Observation(at_s=at_s, frames=_main(pid, threads), activity=state[pid]))

    def look_closely(self) -> None:
        """Reads C++ frames, too; a process that is stopped or inside the kernel cannot be read that way."""
        ready = [pid for pid in self.pids if (now := read_activity(pid)) is not None and now.state in "RS"]
        self._read_stacks(ready, ("--native",), NATIVE_S)
        for pid in ready:
            if pid not in self._problems and pid in self._threads:
                self._native[pid] = _below_python(_main(pid, self._threads[pid]))

    def _read_stacks(self, pids: Sequence[int], options: tuple[str, ...], each_s: float = ONE_S) -> None:
        program = self._program
        if program is None or self._refused:
            return
        options = (*options, "--locals") if self._options.local_values else options
        wanted = [pid for pid in pids if pid in self._python]
        found = in_parallel(
            {pid: lambda pid=pid: _look_twice(pid, program, each_s, options) for pid in wanted},  # type: ignore[misc]
            deadline_s=each_s * (1 + len(wanted) // 16),
        )
        for pid in found.late:
            self._problems[pid] = "py-spy: no answer in time"
        for pid, error in found.errors.items():
            self._problems[pid] = str(error)
            if isinstance(error, StacksRefusedError):
                self._refused = str(error)
        for pid, threads in found.results.items():
            self._problems.pop(pid, None)
            if threads is None:
                self._python.discard(pid)
            else:
                self._threads[pid] = threads

    def seen(self, seconds: float) -> JobSnapshot:
        """Returns all of it, summed up."""
        ended = tuple(pid for pid in self.pids if self._looks[pid][-1].activity is None)
        ranks = guess_ranks(self._processes, {pid: looks[-1].frames for pid, looks in self._looks.items()})
        processes = [
            replace(one, variables={**one.variables, "RANK": str(ranks[one.pid])}) if one.pid in ranks else one
            for one in self._processes
        ]
        parts = ProcessRoles(processes)
        named = [one for one in processes if parts.part(one) is ProcessRole.RANK]
        # Programs that run side by side are no ranks only because there are several.
        alone = not any("RANK" in one.variables for one in named) and not any(self._at_peers(one.pid) for one in named)
        return JobSnapshot(
            job=self._job,
            standings=tuple(self._standing(one, parts, alone=alone) for one in processes if one.pid in self._looks),
            looks={pid: tuple(looks) for pid, looks in self._looks.items()},
            threads=self._threads,
            missing=tuple(self._missing(set(ended))),
            ended=ended,
            seconds=seconds,
            refused=bool(self._refused) or self._program is None,
            ranks=ranks,
        )

    def _at_peers(self, pid: int) -> bool:
        looks = self._looks.get(pid)
        return bool(looks and classify(looks[-1].frames).op)

    def _standing(self, process: MergedProcess, parts: ProcessRoles, *, alone: bool) -> ProcessStack:
        pid = process.pid
        frames = self._looks[pid][-1].frames
        part, rank, above = parts.part(process), parts.rank(process), parts.parent(process)
        while above is not None and parts.part(above) is not ProcessRole.RANK:
            above = parts.parent(above)
        owner = parts.rank(above) if above is not None and part is not ProcessRole.RANK else None
        if is_data_worker(frames):
            part = ProcessRole.DATA_WORKER
        return ProcessStack(
            pid=pid,
            parent_pid=process.parent_pid,
            part=part,
            rank=None if alone or part is not ProcessRole.RANK else rank,
            owner=above.pid if above is not None and owner is not None else None,
            argv=redaction.argv(process.argv),
            frames=self._native.get(pid, frames),
            place=classify(worker_frames(frames)),
            moved=moved(self._looks[pid]),
            problem=self._problem(pid),
            values=_values(self._threads.get(pid, ()), pid) if self._options.local_values else (),
        )

    def _problem(self, pid: int) -> str:
        if pid not in self._python or self._looks[pid][-1].frames:
            return ""
        if self._refused or self._program is None:  # said once for all, in `missing`
            return "refused" if self._refused else "no py-spy"
        return self._problems.get(pid, "") or "no stack"

    def _missing(self, ended: set[int]) -> list[Missing]:
        missing = []
        if self._program is None:
            missing.append(Missing(what="stacks", why=f"{NO_PY_SPY}; pip install py-spy"))
        elif self._refused:
            why = f"the kernel refuses to read other processes; {what_would_help()}"
            missing.append(Missing(what="stacks", why=why))
        else:
            missing += [
                Missing(what=f"stack of pid {pid}", why=why)
                for pid, why in self._problems.items()
                if pid not in ended and not self._looks[pid][-1].frames
            ]
        if len(self._job.members) > len(self.pids):
            total = len(self._job.members)
            missing.append(Missing(what="processes", why=f"of {total} the first {len(self.pids)} were looked at"))
        missing += [Missing(what=f"pid {pid}", why="it ended while it was looked at") for pid in sorted(ended)]
        return missing


def _look_twice(pid: int, program: str, deadline_s: float, options: tuple[str, ...]) -> tuple[PythonThread, ...] | None:
    """Returns the threads of a process that goes on while it is read: the first look may find a frame that is gone."""
    try:
        return one_look(pid, program=program, deadline_s=deadline_s, options=options)
    except StacksRefusedError:
        raise
    except MachineError:
        return one_look(pid, program=program, deadline_s=deadline_s, options=options)


def _main(pid: int, threads: Sequence[PythonThread]) -> tuple[Frame, ...]:
    main = next((one for one in threads if one.native_id == pid), threads[0] if threads else None)
    # Where the job runs under an agent, its wrappers are no places of the job's.
    frames = [frame for frame in main.frames if not _AGENT.search(frame.file)] if main is not None else []
    return tuple(Frame(file=frame.file, line=frame.line, function=frame.function) for frame in frames)


def _below_python(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns a stack with C++ frames without those above Python: how the interpreter itself was started."""
    last = max((place for place, frame in enumerate(frames) if frame.file.endswith(".py")), default=len(frames))
    return tuple(frame for frame in frames[: last + 1] if not frame.function.startswith("0x"))


def _values(threads: Sequence[PythonThread], pid: int) -> tuple[str, ...]:
    """Returns the local values of the main thread's own frames, one text for each frame, secrets hidden."""
    main = next((one for one in threads if one.native_id == pid), None)
    texts = []
    for frame in main.frames if main is not None else ():
        if _AGENT.search(frame.file):
            continue
        own = isinstance(frame, FrameWithValues) and not is_library(Frame(file=frame.file, line=0, function=""))
        pairs = frame.values[:_MOST_VALUES] if isinstance(frame, FrameWithValues) and own else ()
        shown = (f"{name}={redaction.variable(name, text)[:_MOST_TEXT]}" for name, text in pairs)
        texts.append(redaction.line(", ".join(shown)))
    return tuple(texts)
