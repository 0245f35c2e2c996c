"""Reads frames-PID-START.json: the Python stacks of all threads of a process, as its own agent wrote them. Pure.

The file is untrusted: what has the wrong type counts as missing, and sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import printable

MAX_THREADS, MAX_FRAMES = 512, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFrames:
    """One thread. `native` is the kernel's number of it, as in CollectiveCall.thread; 0 unknown."""

    name: str
    native: int
    main: bool
    frames: tuple[Frame, ...]  # innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFrames:
    """All threads of one process, the main thread first, and the counter of its default group at that moment."""

    threads: tuple[ThreadFrames, ...] = ()
    group_number: int | None = None

    @property
    def main(self) -> tuple[Frame, ...]:
        """The stack of the main thread, () where it is not there."""
        return next((thread.frames for thread in self.threads if thread.main), ())


def frames_from_json(value: Any, homes: Homes = NOWHERE) -> ProcessFrames:
    """Returns what such a file says. Raises ValueError where it is no object with a list of threads."""
    listed = value.get("threads") if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("holds no list of threads")
    threads = [_thread(one, homes) for one in listed[:MAX_THREADS] if isinstance(one, Mapping)]
    return ProcessFrames(
        threads=tuple(sorted(threads, key=lambda thread: not thread.main)),
        group_number=_number(value.get("group_number")),
    )


def _thread(value: Mapping[str, Any], homes: Homes) -> ThreadFrames:
    listed = value.get("frames")
    frames = listed[:MAX_FRAMES] if isinstance(listed, list) else []
    return ThreadFrames(
        name=_text(value.get("name")),
        native=_number(value.get("native")) or 0,
        main=value.get("main") is True,
        frames=homes.kept(
            Frame(file=_text(one.get("file")), line=_number(one.get("line")) or 0, function=_text(one.get("function")))
            for one in frames
            if isinstance(one, Mapping)
        ),
    )


def _text(value: Any) -> str:
    return printable(value.encode("utf-8", "replace")) if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None
