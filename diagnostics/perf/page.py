"""The answer as a page, on the terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.markdown import code, inline, page, table
from diagnostics.core.wording import NARROWEST, fitted, hanging
from diagnostics.dynamic.steps.table import milliseconds, percent, phases_of, rows_of, text_of
from diagnostics.perf.answer import Change, PerfAnswer

SHOWN_RANKS = 32


def headline(answer: PerfAnswer) -> str:
    """Returns the answer in one sentence."""
    ranks, step = answer.throughput.ranks, milliseconds(answer.throughput.step_s)
    if ranks == 1:
        return f"1 rank, {step} ms a step; the bound is {answer.bound}."
    if answer.efficiency is not None:
        speed = answer.efficiency * ranks
        fast = f"{ranks} ranks are {speed:.2f} times as fast as one ({percent(answer.efficiency)} efficiency)"
    else:
        fast = f"{answer.at_work * ranks:.2f} of {ranks} ranks are at work on average, the rest waits"
    return f"{fast}; {step} ms a step; the bound is {answer.bound}."


def terminal_lines(answer: PerfAnswer, place: str, *, width: int = 0) -> list[str]:
    """Returns what is said on the terminal; `width` is 0 where it is none, and no line is broken."""
    room = max(width - 2, NARROWEST) if width else 0
    lines = [
        *fitted(headline(answer), width),
        "",
        *(f"  {line}".rstrip() for line in text_of(answer.view.splits[:SHOWN_RANKS], room).splitlines()),
        "",
    ]
    for fact in facts(answer):
        lines += fitted(f"  {fact}", width)
    for number, change in enumerate(answer.changes, 1):
        where = f"  {change.place}" if change.place else ""
        lines += ["", *hanging(f"  {number}. {percent(change.gain):>5}  ", f"{change.what}{where}", width)]
        lines += hanging(" " * 12, change.do, width)
    if not answer.changes:
        lines += ["", "  nothing stands out that would give 2 % of a step or more"]
    lines.append("")
    for note in answer.notes:
        lines += hanging("  note: ", note, width)
    lines += fitted(f"  {place}", width)
    return [redaction.line(line) for line in lines]


def facts(answer: PerfAnswer) -> list[str]:
    """Returns the numbers beside the table, one a line."""
    lines = [f"steps {answer.first_step} to {answer.last_step}, {answer.steps} of them steady; means, host times"]
    if answer.throughput.rows_s:
        one = answer.baseline
        alone = f"; one rank alone: {one.rows_s:.0f}" if one is not None and one.rows_s else ""
        lines.append(f"samples a second: {answer.throughput.rows_s:.0f}{alone}")
    if answer.throughput.ranks > 1:
        lines.append(
            f"exposed communication: {percent(answer.exposed)} of the step; waiting for a late rank: "
            f"{percent(answer.waiting)} on average"
        )
        lines.append(straggler(answer))
    cpus = answer.view.cpus
    if cpus.job is not None:
        lines.append(
            f"{cpus.cpus} CPUs: the job {percent(cpus.job)}, others {percent(cpus.others or 0.0)}, "
            f"idle {percent(cpus.idle or 0.0)}"
        )
    return lines


def straggler(answer: PerfAnswer) -> str:
    """Returns who the others wait for."""
    late = answer.view.late
    if late is None:
        return "straggler: none; which rank is last changes from step to step"
    often, cost = f"{percent(late.often)} of the steps", f"{percent(late.cost)} {late.of_what}"
    said = f"straggler: rank {late.split.rank} in {often}, {cost}"
    if not late.replicas:
        return f"{said}; it runs another part of the model than the others, or shares no gradients with them"
    return f"{said}: {late.reason}"


def markdown(answer: PerfAnswer, pictures: Sequence[str]) -> str:
    """Returns the page; `pictures` are file names beside it."""
    head, rows = rows_of(answer.view.splits[:SHOWN_RANKS])
    lines = [
        "# Why it is not N times as fast",
        "",
        f"**{inline(headline(answer))}**",
        "",
        f"Command: {code(answer.command)}",
        "",
    ]
    lines += [*table(head, rows, numbers=range(len(head))), ""]
    lines += [
        'Milliseconds of an average step. The phases add up to the step; "no CPU" is part of them: the main thread '
        "was ready to run and had none.",
        "",
    ]
    lines += [*(f"- {inline(fact)}" for fact in facts(answer)), ""]
    lines += ["## What would give most", ""]
    lines += [line for number, one in enumerate(answer.changes, 1) for line in _change(number, one)]
    if not answer.changes:
        lines += ["Nothing stands out that would give 2 % of a step or more.", ""]
    if pictures:
        lines += ["## Pictures", "", *(f"![{name}]({name})" for name in pictures), ""]
    if answer.notes:
        lines += ["## Notes", "", *(f"- {inline(note)}" for note in answer.notes), ""]
    return page(lines)


def _change(number: int, change: Change) -> list[str]:
    where = f" ({code(change.place)})" if change.place else ""
    return [
        f"{number}. **{percent(change.gain)}** (estimate; measured cost {percent(change.cost)}): "
        f"{inline(change.what)}{where}.",
        f"   Do: {inline(change.do)}.",
        "",
    ]


def json_text(answer: PerfAnswer) -> str:
    """Returns perf.json."""
    phases = phases_of(answer.view.splits)
    late, cpus = answer.view.late, answer.view.cpus
    body: dict[str, Any] = {
        "schema": 1,
        "kind": "perf",
        "command": answer.command,
        "headline": headline(answer),
        "steps": {"first": answer.first_step, "last": answer.last_step, "steady": answer.steps},
        "on_device": answer.on_device,
        "throughput": _throughput(answer),
        "efficiency": answer.efficiency,
        "share_at_work": round(answer.at_work, 4),
        "exposed_communication": round(answer.exposed, 4),
        "waiting_for_late_rank": round(answer.waiting, 4),
        "bound": answer.bound.name.lower(),
        "ranks": [
            {
                "rank": one.rank,
                "step_s": round(one.mean_s, 6),
                "median_step_s": round(one.of.wall_s, 6),
                "no_cpu_s": None if one.delay_s is None else round(one.delay_s, 6),
                "phases_s": {str(phase): round(one.seconds(phase), 6) for phase in phases},
            }
            for one in answer.view.splits
        ],
        "straggler": None
        if late is None
        else {
            "rank": late.split.rank, "often": round(late.often, 4), "cost": round(late.cost, 4),
            "reason": late.reason.name.lower(), "phase": str(late.phase), "same_model": late.replicas,
        },
        "cpus": {"count": cpus.cpus, "job": cpus.job, "others": cpus.others, "idle": cpus.idle},
        "changes": [
            {"what": one.what, "do": one.do, "cost": round(one.cost, 4), "gain_estimate": round(one.gain, 4),
             "place": one.place}
            for one in answer.changes
        ],
        "notes": list(answer.notes),
    }  # fmt: skip
    return json.dumps(redaction.json_value(body), indent=1) + "\n"


def _throughput(answer: PerfAnswer) -> dict[str, Any]:
    told = {"ranks": answer.throughput.ranks, "step_s": answer.throughput.step_s, "samples_s": answer.throughput.rows_s}
    one = answer.baseline
    alone = None if one is None else {"ranks": one.ranks, "step_s": one.step_s, "samples_s": one.rows_s}
    return {**told, "one_rank": alone}
