"""Sees from outside that a process of the job has raised an exception that will end it.

    watch = RaisedWatch(record_folder / "agents")
    pids = watch.look({pid: start_ticks, ...})        # each 0.25 s or so

A process that fails takes up to seconds to end. What its peers do at the moment of the exception is what it failed for:
a rank whose wait timed out is gone when the one it waited for has come.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from diagnostics.agent.shared import layout

_RAISED = b"exception"
_MOST_PROCESSES = 512


class ExceptionFlag:
    """Watches the agents' files of one job."""

    def __init__(self, agents_folder: Path) -> None:
        self._folder = agents_folder
        self._sums: dict[int, int] = {}
        self._told: set[int] = set()

    def look(self, processes: Mapping[int, int]) -> tuple[int, ...]:
        """Returns the pids among `processes` (pid -> start ticks) that raised since the last look; each once."""
        found = [
            pid
            for pid, start in list(processes.items())[:_MOST_PROCESSES]
            if pid not in self._told and self._raised(pid, start)
        ]
        self._told.update(found)
        return tuple(found)

    def _raised(self, pid: int, start_ticks: int) -> bool:
        path = self._folder / f"agent-{pid}-{start_ticks}.bin"
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # not watched, or removed by the job
            return False
        try:
            area = os.pread(fd, layout.LIFECYCLE_BYTES, layout.HEADER_BYTES)
            total = zlib.crc32(area)
            if self._sums.get(pid) == total:
                return False
            self._sums[pid] = total
            return any(_text(fd, kind) == _RAISED for kind in _kinds(area))
        except (OSError, struct.error):  # cut short by the job
            return False
        finally:
            os.close(fd)


def _kinds(area: bytes) -> set[int]:
    """Returns the ids of the kinds of all events in a lifecycle area."""
    slots = area[layout.LIFECYCLE_HEADER_BYTES :]
    size = layout.EVENT_BYTES
    events = (struct.unpack_from(layout.EVENT, slots, at) for at in range(0, len(slots) - size + 1, size))
    return {event[4] for number, event in enumerate(events, 1) if event[0] == number}


def _text(fd: int, ident: int) -> bytes:
    """Returns the string with this id, as far as it is as long as the kind looked for."""
    strings = layout.HEADER_BYTES + layout.LIFECYCLE_BYTES
    data = os.pread(fd, 2 + len(_RAISED), strings + ident)
    (size,) = struct.unpack_from("<H", data)
    return data[2:] if size == len(_RAISED) else b""
