"""Looks at where processes stand that make a job slow: some twenty looks, once, without stopping them.

py-spy reads the memory of a process that goes on meanwhile. Only what is suspected by its own times is looked at, so
that a job which runs well is never.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from diagnostics.core.files import write_private
from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.pidfds import read_start
from diagnostics.machine.processes.python_stacks import StacksRefusedError, find_py_spy, one_look
from diagnostics.record.step_stacks import FILE_NAME, MOST_FRAMES, MOST_STACKS

LOOKS, APART_S, DEADLINE_S = 24, 0.07, 6.0
MOST_PROCESSES = 4
_ONE_S = 1.0

Stack = tuple[tuple[str, int, str], ...]


class StepStacks:
    """The looks at one job; each process is looked at once."""

    def __init__(self, record_folder: Path, stop_asked: Callable[[], bool] = lambda: False) -> None:
        self._path = record_folder / "captures" / FILE_NAME
        self._seen: dict[str, Counter[Stack]] = {}
        self._stop_asked = stop_asked
        self._refused = False

    def look(self, processes: Mapping[int, int]) -> None:
        """Looks at those of `processes` (pid -> start ticks) that were not yet. Raises OSError."""
        program = find_py_spy()
        new = {pid: start for pid, start in processes.items() if f"{pid}-{start}" not in self._seen}
        new = {pid: start for pid, start in list(new.items())[:MOST_PROCESSES] if read_start(pid) == start}
        if program is None or self._refused or not new:
            return
        until = time.monotonic() + DEADLINE_S
        found: dict[int, Counter[Stack]] = {pid: Counter() for pid in new}
        tasks = {pid: (lambda pid=pid: self._follow(pid, program, found[pid], until)) for pid in new}
        in_parallel(tasks, deadline_s=DEADLINE_S)
        for pid, start in new.items():
            self._seen[f"{pid}-{start}"] = Counter(found[pid])
        self._write()

    def _follow(self, pid: int, program: str, found: Counter[Stack], until: float) -> None:
        for _ in range(LOOKS):
            left = until - time.monotonic()
            if left <= 0 or self._stop_asked():
                return
            try:
                threads = one_look(pid, program=program, deadline_s=min(left, _ONE_S))
            except StacksRefusedError:
                self._refused = True
                return
            except MachineError:  # it ended, or was read in the middle of a change
                continue
            if threads:
                frames = threads[0].frames[:MOST_FRAMES]
                found[tuple((one.file, one.line, one.function) for one in frames)] += 1
            time.sleep(APART_S)  # looks at one moment would all see the same

    def _write(self) -> None:
        told = {
            name: [[count, stack] for stack, count in seen.most_common(MOST_STACKS)]
            for name, seen in self._seen.items()
        }
        write_private(self._path, json.dumps(told, separators=(",", ":")) + "\n")
