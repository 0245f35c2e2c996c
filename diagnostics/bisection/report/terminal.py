"""The answer on the terminal. Pure.

A stack or traceback without what the doctor and torch put around the user's calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.next_step import next_step
from diagnostics.bisection.report.words import certainty, headline, needs, not_needed, often
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.core import redaction
from diagnostics.core.own_folders import without_own_frames
from diagnostics.core.wording import hanging
from diagnostics.report.run_report import RunReport

AROUND = ("/torch/nn/modules/module.py",)  # two frames a module, which say nothing
MOST = 40

WIDEST = 110
LONGEST_WORDS = 300
MARKS = {0: ("ok  ", "32"), 1: ("FAIL", "1;31"), 3: ("?   ", "33")}


def outcome_lines(found: Bisection, report: RunReport, *, colour: bool = False, width: int = 0) -> list[str]:
    """Returns the verdict and what belongs to it, a few lines; `width` is that of the terminal, 0 where it is none."""
    width = min(width or WIDEST, WIDEST)
    mark, shade = MARKS[found.exit_code]
    shown = f"\033[{shade}m{mark}\033[0m" if colour else mark
    first, *lines = map(redaction.line, hanging(" " * 6, headline(found), width))
    first = first.lstrip()
    for label, text in _body(found, report):
        lines += map(redaction.line, hanging(f"{'':6}{label:<8}", text, width))
    text, commands = next_step(found)
    lines += hanging(f"{'':6}{'next':<8}", redaction.line(text), width)
    lines += [f"{'':14}{redaction.line(command)}" for command in commands]  # whole, however long: to be pasted
    return [f"{shown}  {first}", *lines]


def _body(found: Bisection, report: RunReport) -> Iterator[tuple[str, str]]:
    if found.failure is None:
        for one in found.attempts:
            if one.trial.refusal:
                yield "not run", f"{one.way}: {one.trial.refusal}"
        return
    if report.location:
        yield "where", report.location
    if found.outside and not found.attempts:  # all there is
        yield from (("seen", line) for line in found.evidence)
    if said := said_by(found.failure):
        yield "says", said
    if found.axes:
        yield "needs", needs(found).removeprefix("needs ")
    if not_needed(found.axes):
        yield "not", not_needed(found.axes)
    if certainty(found):
        yield "sure", certainty(found)
    if often(found):
        yield "often", often(found)
    if found.repro:
        often_so = f"failed in the same way {found.repro_failed} of {found.repro_runs} times"
        yield "repro", f"{Path(found.folder) / found.repro}, {found.repro_note}: {often_so}"
    elif found.repro_note:
        yield "repro", found.repro_note
    for row in found.versions:
        yield "version", f"{row.wanted}: {row.result}{f' ({row.note})' if row.note else ''}"


def said_by(failure: Failure) -> str:
    """Returns the first line of an exception's own words, with its type; "" where none was raised."""
    if failure.kind is not FailureKind.EXCEPTION:
        return ""
    lines = [line for line in failure.text.splitlines() if line.partition(":")[0].endswith(failure.detail)]
    return shorten(lines[-1] if lines else f"{failure.detail}: {failure.message}", LONGEST_WORDS, placeholder=" ...")


def shown_stack(text: str) -> list[str]:
    """Returns the lines worth reading, at most MOST: the innermost frames of a stack, the end of a traceback."""
    kept = without_own_frames(text, AROUND)
    is_traceback = any(line.startswith("Traceback ") for line in kept)
    return kept[-MOST:] if is_traceback else kept[:MOST]
