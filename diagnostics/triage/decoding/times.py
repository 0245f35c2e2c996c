"""Times as logs write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_IN_A_LINE = re.compile(r"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?")


def iso_s(text: str) -> float | None:
    """Returns seconds since 1970 of an ISO time; one without a zone is this machine's, None for no time."""
    try:
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace(",", ".")).timestamp()
    except (ValueError, OverflowError):
        return None


def last_time_s(text: str) -> float | None:
    """Returns the last time that stands in a text."""
    found = list(_IN_A_LINE.finditer(text))[-1:]
    return iso_s(found[0][1] + (found[0][2] or "")) if found else None


def first_time_s(text: str) -> float | None:
    """Returns the first time that stands in a text."""
    found = _IN_A_LINE.search(text)
    return iso_s(found[1] + (found[2] or "")) if found else None


def shown_time(seconds: float | None) -> str:
    """Returns "2025-11-13 01:21:09" in UTC, "" for none."""
    if seconds is None or not 0 <= seconds < 1 << 36:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def shown_duration(seconds: float | None) -> str:
    """Returns "1768 s", "4.2 s", "" for none."""
    if seconds is None:
        return ""
    return f"{seconds:.1f} s" if abs(seconds) < 100 else f"{seconds:.0f} s"
