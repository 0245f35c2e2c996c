"""Looks for progress in a running job, cheaply, from outside; stall_detector.py says what it means.

    progress = Progress(record_folder / "agents", stall_timeout_s=600)
    judgement = progress.look(seconds_since_start, {pid: start_ticks, ...}, bytes_of_output)   # each 0.25 s or so

A look reads of each living process: the areas of its agent's file (until one has changed), its CPU time, the bytes it
moved. It takes less than 1 ms a process; with many of them it looks less often, to stay below 2 % of one CPU.
"""

from __future__ import annotations

import itertools
import os
import struct
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diagnostics.agent.shared import layout
from diagnostics.dynamic.job import cpu_shares
from diagnostics.machine.processes.proc_state import Effort, effort
from diagnostics.record.supervisor_facts import Stall
from diagnostics.supervisor.hang.stall_detector import ProgressSample, StallDetector, StallState

BUSY_BYTES_PER_S = 64 << 10  # heartbeats of a store take less
COUNT_S = 1.0  # clock ticks are 10 ms: over a shorter time they tell little
_MOST_FILES = 512
_WORK = ("collectives", "modules")  # areas that training itself writes, beside `steps`
# In the variables and words of a process: a rank, or torchrun, which may wait for other nodes before it has any.
_OF_A_TRAINING = (b"RANK=", b"/torchrun", b"torch.distributed.run")
# Programs that wait for orders: doing nothing is what they are for.
_WAITING = (
    "ipykernel", "ipython", "jupyter", "notebook", "marimo", "streamlit", "gradio", "uvicorn", "gunicorn", "hypercorn",
    "flask", "tensorboard", "mlflow", "colab_kernel_launcher", "code-server", "debugpy", "pdb",
)  # fmt: skip


def waits_for_orders(argv: tuple[str, ...]) -> bool:
    """Whether this is a notebook's kernel, a server or a debugger: a job with one of them is never called stuck."""
    names = {word.rpartition("/")[2].removesuffix(".py").partition(".")[0].lower() for word in argv[:4]}
    return any(name.startswith(_WAITING) for name in names) or argv[1:2] == ("-i",)


@dataclass(slots=True)
class _File:
    """What was last seen of one agent's file."""

    path: Path
    areas: dict[str, tuple[int, int]] = field(default_factory=dict)  # offset, bytes
    sums: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    step_s: tuple[float, ...] = ()
    has_rank: bool = False


class JobProgress:
    """Watches one job."""

    def __init__(self, agents_folder: Path, stall_timeout_s: float, began_s: float = 0.0) -> None:
        self._folder = agents_folder
        self._rule = StallDetector(stall_timeout_s, began_s)
        self._files: dict[str, _File] = {}
        self._known: frozenset[str] = frozenset()
        self._processes: dict[int, int] = {}
        self._efforts: dict[int, Effort] = {}
        self._counted_s = began_s
        self._output = 0
        self._next_s = began_s
        self._last = StallState(stall=None)
        self.quiet_since_s = began_s  # when a process under the agent last recorded anything, came or went

    @property
    def stalls(self) -> tuple[Stall, ...]:
        """All stalls there were, for SupervisorFacts."""
        return tuple(self._rule.stalls)

    @property
    def steps(self) -> int:
        """Optimizer steps of all living processes together."""
        return sum(file.steps for file in self._files.values())

    @property
    def most_steps(self) -> int:
        """Optimizer steps of the living process that made most."""
        return max((file.steps for file in self._files.values()), default=0)

    def look(self, at_s: float, processes: Mapping[int, int], output_bytes: int) -> StallState:
        """Returns what to do now.

        `processes` are the living ones of the job, pid -> start ticks, without `machine.tools.running_tools()`;
        `output_bytes` is all that the job wrote so far.
        """
        if at_s < self._next_s:
            return StallState(stall=self._last.stall, patience_s=self._last.patience_s)
        began = time.thread_time()
        came_or_went = dict(processes) != self._processes
        self._processes = dict(processes)
        worked, noted = self._read_files(processes)
        if worked or noted or self._files.keys() != self._known:
            self.quiet_since_s, self._known = at_s, frozenset(self._files)
        busy = self._is_busy(at_s, processes)
        grown, self._output = output_bytes > self._output, output_bytes
        live = [file for name, file in self._files.items() if _pid(name) in processes]
        leading = max(live, key=lambda file: file.steps, default=None)
        steps = leading.steps if leading else 0
        # A thread that watches the machine starts helpers for ever, also in a job that hangs: once there are steps,
        # only what training itself records is sure.
        rare = noted or came_or_went
        self._last = self._rule.judge(
            ProgressSample(
                at_s=at_s,
                sure=worked or (rare and not steps),
                busy=busy or rare,
                output=grown,
                steps=steps,
                step_s=leading.step_s if leading else (),
                has_ranks=any(file.has_rank for file in live),
            )
        )
        self._next_s = at_s + (time.thread_time() - began) / cpu_shares.OURS
        return self._last

    def _read_files(self, processes: Mapping[int, int]) -> tuple[bool, bool]:
        """Whether training went on in any living process, and whether one noted a rare event."""
        try:
            names = [entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".bin")]
        except OSError:  # removed by the job: its other signs have to do
            return False, False
        living = [name for name in names if _pid(name) in processes][:_MOST_FILES]
        for gone in set(self._files) - set(living):
            del self._files[gone]
        # All of them, also where the first has changed: steps are counted in each.
        found = [self._read_file(name) for name in living]
        return any(worked for worked, _ in found), any(noted for _, noted in found)

    def _read_file(self, name: str) -> tuple[bool, bool]:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = _File(self._folder / name)
        try:
            fd = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False, False
        try:
            _read_table(fd, file)
            worked = _steps_changed(fd, file) or any(_area_changed(fd, file, area) for area in _WORK)
            return worked, not worked and _area_changed(fd, file, "lifecycle")
        except (OSError, struct.error):  # cut short by the job
            return False, False
        finally:
            os.close(fd)

    def _is_busy(self, at_s: float, processes: Mapping[int, int]) -> bool:
        """Whether any process worked since the last count; False between two counts, which are COUNT_S apart."""
        apart = at_s - self._counted_s
        if apart < COUNT_S:
            return False
        now = {pid: found for pid in processes if (found := effort(pid)) is not None}
        before, self._efforts, self._counted_s = self._efforts, now, at_s
        return any(
            found.in_disk_wait
            or found.cpu_s - before[pid].cpu_s >= cpu_shares.WORKS * apart
            or found.bytes_moved - before[pid].bytes_moved >= BUSY_BYTES_PER_S * apart
            for pid, found in now.items()
            if pid in before
        )


def _pid(name: str) -> int:
    """Returns the pid in "agent-<pid>-<start>.bin"."""
    word = name.split("-")[1] if name.startswith("agent-") else ""
    return int(word) if word.isdigit() else 0


def _read_table(fd: int, file: _File) -> None:
    """Reads where the areas are, again and again: those of torch come later."""
    table = os.pread(fd, layout.AREA_COUNT * layout.AREA_ENTRY_BYTES, layout.AREA_TABLE_OFFSET)
    for at in range(0, len(table) - layout.AREA_ENTRY_BYTES + 1, layout.AREA_ENTRY_BYTES):
        raw, offset, size = struct.unpack_from(layout.AREA_ENTRY, table, at)
        if name := raw.rstrip(b"\0").decode("ascii", "replace"):
            file.areas[name] = (offset, min(size, 1 << 20))
    if not file.has_rank:
        text = os.pread(fd, layout.TEXT_BYTES, layout.TEXT_OFFSET)
        file.has_rank = "modules" in file.areas or any(word in text for word in _OF_A_TRAINING)


def _steps_changed(fd: int, file: _File) -> bool:
    offset, size = file.areas.get("steps", (0, 0))
    if size < layout.STEPS_BYTES:
        return False
    words = struct.unpack(f"<{layout.STEPS_BYTES // 8}Q", os.pread(fd, layout.STEPS_BYTES, offset))
    count = words[layout.STEP_COUNT]
    head = zlib.crc32(struct.pack(f"<{layout.GROUP_NUMBER_AT}Q", *words[: layout.GROUP_NUMBER_AT]))
    if count != file.steps:
        file.steps, file.step_s = count, _durations(words[layout.STEPS_HEADER_WORDS :])
    return _differs(file, "steps", head)


def _durations(ring: tuple[int, ...]) -> tuple[float, ...]:
    times = sorted(word for word in ring if word)
    return tuple(round((later - earlier) / 1e9, 6) for earlier, later in itertools.pairwise(times))[-64:]


def _area_changed(fd: int, file: _File, area: str) -> bool:
    if area not in file.areas:
        return False
    offset, size = file.areas[area]
    return _differs(file, area, zlib.crc32(os.pread(fd, size, offset)))


def _differs(file: _File, area: str, total: int) -> bool:
    before, file.sums[area] = file.sums.get(area), total
    return before != total
