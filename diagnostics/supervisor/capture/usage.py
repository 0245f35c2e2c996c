"""Looks at what the processes of a job and the machine use, from outside, for as long as it runs.

Bounded: of a long job each second look is forgotten again and again, so that what is left spans all of it. The looks
take less than half a percent of one CPU.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from diagnostics.core.files import write_private
from diagnostics.machine.processes.usage import machine_usage, process_usage
from diagnostics.record.usage import FILE_NAME

FIRST_APART_S = 0.5
MOST_LOOKS = 240
MOST_PROCESSES = 64
SHARE = 0.005
WRITE_APART_S = 5.0


class UsageLooks:
    """The looks at one job."""

    def __init__(self, record_folder: Path) -> None:
        self._path = record_folder / "captures" / FILE_NAME
        self._lines: list[str] = []
        self._apart_s, self._next_s, self._written_s = FIRST_APART_S, 0.0, 0.0

    def is_due(self, at_s: float) -> bool:
        """Whether it is time for the next look."""
        return at_s >= self._next_s

    def look(self, at_s: float, living: Mapping[int, int]) -> None:
        """Looks at the processes (pid -> start ticks, ranks first). Raises OSError."""
        began = time.thread_time()
        told = {}
        for pid, start_ticks in list(living.items())[:MOST_PROCESSES]:
            seen = process_usage(pid)
            if seen is not None and seen[0] == start_ticks:
                told[f"{pid}-{start_ticks}"] = _rounded(seen[1])
        look = {"at_s": round(at_s, 3), "machine": _rounded(machine_usage()), "processes": told}
        self._lines.append(json.dumps(look, separators=(",", ":")))
        if len(self._lines) > MOST_LOOKS:
            del self._lines[1::2]
            self._apart_s *= 2
        self._next_s = at_s + max(self._apart_s, (time.thread_time() - began) / SHARE)
        if at_s - self._written_s >= max(WRITE_APART_S, self._apart_s):
            self._written_s = at_s
            self.write()

    def write(self) -> None:
        """Writes what there is. Raises OSError."""
        if self._lines:
            write_private(self._path, "".join(f"{line}\n" for line in self._lines))


def _rounded(numbers: list[float]) -> list[float]:
    return [round(one, 4) for one in numbers]
