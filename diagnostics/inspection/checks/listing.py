"""Names and places as inspections show them. No inspection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from diagnostics.core.findings import Evidence
from diagnostics.core.frames import shown_path

SHOWN = 4


def listed(names: Sequence[str], limit: int = SHOWN) -> str:
    """Returns 'a', 'a and b', or 'a, b, c and 7 more'."""
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def place(where: str) -> str:
    """Returns "file:line" relative to this folder where the file lies below it, "" for an unknown place."""
    file, _, line = where.rpartition(":")
    return f"{shown_path(file, str(Path.cwd()))}:{line}" if file else ""


def at(where: str) -> str:
    """Returns " at model.py:12", "" for an unknown place."""
    return f" at {place(where)}" if where else ""


def where_of(member: str, *places: str) -> str:
    """Returns what a finding is about and its first known line: "head.weight, model.py:12"."""
    known = next((place(one) for one in places if one), "")
    return ", ".join(filter(None, (member, known)))


def source(where: str, otherwise: str) -> str:
    """Returns the line as a source of evidence, or what was looked at where the line is not known."""
    return place(where) or otherwise


def distinct(items: Iterable[str]) -> list[str]:
    """Returns the items once each, in order, without empty ones."""
    return list(dict.fromkeys(filter(None, items)))


def evidences(lines: Iterable[str], observed: str, otherwise: str) -> tuple[Evidence, ...]:
    """Returns one piece of evidence for each distinct line, at least one."""
    places = distinct(place(line) for line in lines)
    return tuple(Evidence(source=one, observed=observed) for one in places[:SHOWN] or [otherwise])
