"""The screen as lines: at most so many columns and rows, readable without colour. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.console import printable_line
from diagnostics.report.headline import ranks_in_words
from diagnostics.top.standing import Standing

HEAD = " rank     step  step/s  data   cpu     mem  where"
_RED, _DIM, _OFF = "\033[1;31m", "\033[2m", "\033[0m"
FIRST_ROW = 4


def frame(
    standings: Sequence[Standing], what: str, state: str, *, width: int = 80, height: int = 24, colour: bool = False
) -> list[str]:
    """Returns the lines; `what` is the job, `state` how it goes. Ranks that do not fit are counted."""
    room = max(1, height - FIRST_ROW - 1)
    shown = standings if len(standings) <= room else standings[: room - 1]
    lines = [
        _cut(f"ups-doctor top: {what}", width),
        _cut(f"{len(standings)} ranks, {state}{_verdict(standings)}", width),
    ]
    lines += ["", _cut(HEAD, width)]
    for one in shown:
        line = _cut(_row(one), width)
        lines.append(f"{_RED}{line}{_OFF}" if colour and one.holds_up else line)
    hidden = len(standings) - len(shown)
    if hidden:
        lines.append(_cut(f"      and {hidden} more ranks, which hold up nobody more than these", width))
    return lines


def _verdict(standings: Sequence[Standing]) -> str:
    holding = [one for one in standings if one.holds_up]
    if not holding:
        return ""
    waiting = [one for one in standings if one.waits_for]
    longest = max(one.inside_s or 0.0 for one in waiting)
    verb = "has" if len(holding) == 1 else "have"
    ranks = ranks_in_words([one.rank for one in holding])
    return f": {ranks} {verb} not come to {waiting[0].call}; {len(waiting)} wait since {longest:.1f} s"


def _row(one: Standing) -> str:
    step = "" if one.step is None else str(one.step)
    speed = "" if one.steps_per_s is None else f"{one.steps_per_s:.1f}"
    data = "" if one.data_share is None else f"{100 * one.data_share:.0f}%"
    cpu = "" if one.cpu_share is None else f"{100 * one.cpu_share:.0f}%"
    memory = "" if one.memory_bytes is None else _bytes(one.memory_bytes)
    return f"{one.rank:5d} {step:>8} {speed:>7} {data:>5} {cpu:>5} {memory:>7}  {_where(one)}".rstrip()


def _where(one: Standing) -> str:
    if one.ended:
        return one.ended
    if one.is_waiting:
        late = f" for {_ranks(one.waits_for)}" if one.waits_for else ""
        return f"waits {one.inside_s:.1f} s{late} in {one.call}"
    if one.holds_up:
        return f"{one.holds_up} wait for it; {one.module or one.call}"
    parts = [f"in {one.module}" if one.module else "", f"last {one.call}" if one.call else ""]
    return ", ".join(part for part in parts if part)


def _ranks(ranks: Sequence[int]) -> str:
    shown = ",".join(map(str, ranks[:6]))
    return shown if len(ranks) <= 6 else f"{shown} +{len(ranks) - 6}"


def _bytes(value: float) -> str:
    return f"{value / (1 << 30):.1f}G" if value >= 1 << 30 else f"{value / (1 << 20):.0f}M"


def _cut(text: str, width: int) -> str:
    line = printable_line(text)
    return line if len(line) <= width else line[: width - 1] + ">"
