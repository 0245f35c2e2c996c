"""Reads captures/stacks-from-outside-PID.json: the stacks of a living process, taken without its help."""

from __future__ import annotations

from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import printable

_MOST_THREADS, _MOST_FRAMES = 256, 256


def parse_outside_stacks(text: str, homes: Homes = NOWHERE) -> tuple[tuple[Frame, ...], ...]:
    """Returns the frames of each thread, innermost first, the main thread first; () of another text."""
    try:
        value = untrusted_json.loads(text)
    except ValueError:
        return ()
    threads = value.get("threads") if isinstance(value, dict) else None
    found = (homes.kept(_frames(thread)) for thread in _list(threads)[:_MOST_THREADS])
    return tuple(frames for frames in found if frames)


def _frames(thread: Any) -> tuple[Frame, ...]:
    frames = _list(thread.get("frames")) if isinstance(thread, dict) else []
    return tuple(frame for item in frames[:_MOST_FRAMES] if (frame := _frame(item)) is not None)


def _frame(item: Any) -> Frame | None:
    if not isinstance(item, dict):
        return None
    file, line, function = item.get("file"), item.get("line"), item.get("function")
    if not isinstance(file, str) or not isinstance(function, str) or not isinstance(line, int):
        return None
    return Frame(file=printable(file.encode()), line=line, function=printable(function.encode()))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
