"""Frames, counts and real numbers in lines of JSON that agents wrote: bounded, and nothing of the wrong type."""

from __future__ import annotations

from typing import Any

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import Homes
from diagnostics.record.untrusted_values import number_of, text_of

MOST_FRAMES = 8
_NOT_FINITE = ("nan", "inf")


def frames_of(value: Any, homes: Homes) -> tuple[Frame, ...]:
    """Returns a path of [[file, line, function], ...]."""
    listed = [one for one in some_of(value, MOST_FRAMES) if isinstance(one, list) and len(one) == 3]
    frames = (
        Frame(file=text_of(file), line=number_of(line) or 0, function=text_of(name)) for file, line, name in listed
    )
    return homes.kept(frame for frame in frames if frame.file)


def real_of(value: Any) -> float | None:
    """Returns a number, also "nan" and "inf"; None of anything else."""
    if isinstance(value, str):
        return float(value) if value in _NOT_FINITE else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def count_of(value: Any) -> int:
    """Returns a whole number that is not negative, 0 of anything else."""
    return max(0, number_of(value) or 0)


def some_of(value: Any, most: int) -> list[Any]:
    """Returns the first elements of a list, none of anything else."""
    return value[:most] if isinstance(value, list) else []
