"""Marks as a table by operator, totals, misses in words and JSON. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from mutant_marks import Marks
from operators import SILENT

COLUMNS = ("outcome", "failure_class", "ranks", "line", "line_listed", "exit_code")
_HEADS = ("outcome", "class", "rank", "line", "in first 3", "exit")


def lines(marks: Sequence[Marks], unkilled: dict[str, int]) -> list[str]:
    """Returns the table: operators, then totals of the doctor and of the bare launcher."""
    loud = [one for one in marks if one.shown != SILENT]
    head = (
        f"{'operator':26} {'n':>4} " + " ".join(f"{name:>10}" for name in _HEADS) + f" {'s median':>9} {'longest':>8}"
    )
    found = [head]
    for operator in sorted({one.mutant.operator for one in loud} | set(unkilled)):
        of_it = [one for one in loud if one.mutant.operator == operator]
        found.append(_row(operator, of_it) + (f"   {unkilled[operator]} not killed" if operator in unkilled else ""))
    found += [_row("all", loud), *_by("program", loud), *_by("place", loud), *_bare(loud)]
    silent = [one for one in marks if one.shown == SILENT]
    if silent:
        found += ["", "silent: nothing ends them, and the exit code is 0", head]
        found += [_row(name, list(group)) for name, group in _grouped(silent, "operator")]
    return found


def _row(name: str, marks: Sequence[Marks]) -> str:
    shares = " ".join(f"{_share(getattr(one, column) for one in marks):>10}" for column in COLUMNS)
    seconds = [one.seconds for one in marks if one.seconds is not None]
    took = f"{statistics.median(seconds):>9.1f} {max(seconds):>8.1f}" if seconds else f"{'-':>9} {'-':>8}"
    return f"{name:26.26} {len(marks):>4} {shares} {took}"


def _by(what: str, marks: Sequence[Marks]) -> list[str]:
    return ["", f"by {what}", *(_row(name, group) for name, group in _grouped(marks, what))]


def _grouped(marks: Sequence[Marks], what: str) -> list[tuple[str, list[Marks]]]:
    groups: dict[str, list[Marks]] = {}
    for one in marks:
        name = one.mutant.place.kind if what == "place" else getattr(one.mutant, what)
        groups.setdefault(name, []).append(one)
    return sorted(groups.items())


def _bare(marks: Sequence[Marks]) -> list[str]:
    noticed, rank, line = (
        _share(getattr(one, name) for one in marks) for name in ("bare_noticed", "bare_rank", "bare_line")
    )
    return [
        "",
        f"the launcher alone: failure noticed {noticed}, class 0 %, rank {rank}, line in its last traceback {line}",
    ]


def misses(marks: Iterable[Marks]) -> list[str]:
    """Returns what was wrong with each answer, in words."""
    found: list[str] = []
    for one in marks:
        if one.wrong:
            mutant = one.mutant
            at = f"{mutant.place.file} {mutant.place.function}, rank {mutant.scene.rank}, step {mutant.scene.step}"
            found += ["", f"{mutant.name} ({mutant.place.kind} {at}; bare: {one.shown})"]
            found += [f"    {wrong}" for wrong in one.wrong]
            found.append(f"    said: {one.said}")
    return found


def as_json(marks: Iterable[Marks], unkilled: dict[str, int], alarms: dict[str, str]) -> dict[str, Any]:
    """Returns all marks as plain values."""
    return {
        "mutants": {
            one.mutant.name: {
                "program": one.mutant.program,
                "operator": one.mutant.operator,
                "place": one.mutant.place.kind,
                "rank": one.mutant.scene.rank,
                "step": one.mutant.scene.step,
                "shown": one.shown,
                **{column: getattr(one, column) for column in COLUMNS},
                "seconds": one.seconds,
                "bare": [one.bare_noticed, one.bare_rank, one.bare_line],
                "wrong": list(one.wrong),
            }
            for one in marks
        },
        "not_killed": unkilled,
        "alarms": alarms,
    }


def _share(asked: Iterable[bool | None]) -> str:
    known = [mark for mark in asked if mark is not None]
    return f"{sum(known) / len(known):.0%}" if known else "-"
