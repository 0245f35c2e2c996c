"""The answer on the terminal. Pure.

A stack or traceback without what the doctor and torch put around the user's calls.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.next_step import next_step
from diagnostics.bisection.report.words import certainty, headline, needs, not_needed, often
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.core import redaction
from diagnostics.core.own_folders import AGENT, CHILDREN
from diagnostics.report.run_report import RunReport

OURS = (f"{CHILDREN}/", f"{AGENT}/")
AROUND = ("/torch/nn/modules/module.py",)  # two frames a module, which say nothing
FRAME = re.compile(r'^\s*(?:File ")?(?P<file>/[^":]+)(?:", line |:)\d+')
MOST = 40

WIDTH = 110
LONGEST_WORDS = 300
MARKS = {0: ("ok  ", "32"), 1: ("FAIL", "1;31"), 3: ("?   ", "33")}


def outcome_lines(found: Bisection, report: RunReport, *, colour: bool = False) -> list[str]:
    """Returns the verdict and what belongs to it, a few lines."""
    mark, shade = MARKS[found.exit_code]
    shown = f"\033[{shade}m{mark}\033[0m" if colour else mark
    first, *lines = map(redaction.line, _wrapped("", headline(found)))
    for label, text in _body(found, report):
        lines += map(redaction.line, _wrapped(label, text))
    return [f"{shown}  {first}", *lines]


def _body(found: Bisection, report: RunReport) -> Iterator[tuple[str, str]]:
    if found.failure is None:
        for one in found.attempts:
            if one.trial.refusal:
                yield "not run", f"{one.way}: {one.trial.refusal}"
        yield from _next(found)
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
    yield from _next(found)


def _next(found: Bisection) -> Iterator[tuple[str, str]]:
    text, commands = next_step(found)
    yield "next", text
    for command in commands:
        yield " ", command


def said_by(failure: Failure) -> str:
    """Returns the first line of an exception's own words, with its type; "" where none was raised."""
    if failure.kind is not FailureKind.EXCEPTION:
        return ""
    lines = [line for line in failure.text.splitlines() if line.partition(":")[0].endswith(failure.detail)]
    return shorten(lines[-1] if lines else f"{failure.detail}: {failure.message}", LONGEST_WORDS, placeholder=" ...")


def _wrapped(label: str, text: str) -> list[str]:
    began = f"{'':6}{label:<8}" if label else " " * 6
    room = WIDTH - len(began)
    lines = textwrap.wrap(" ".join(text.split()), room, break_on_hyphens=False, break_long_words=False) or [""]
    if not label:
        return [lines[0], *(f"{began}{line}" for line in lines[1:])]
    return [f"{began}{lines[0]}", *(f"{'':{len(began)}}{line}" for line in lines[1:])]


def shown_stack(text: str) -> list[str]:
    """Returns the lines worth reading, at most MOST: the innermost frames of a stack, the end of a traceback."""
    lines = text.rstrip().splitlines()
    kept, left_out = [], False
    for line in lines:
        frame = FRAME.match(line)
        if frame is not None:
            left_out = frame["file"].startswith(OURS) or frame["file"].endswith(AROUND)
        elif not line.startswith("    "):  # code and its marks belong to the frame above them
            left_out = False
        if not left_out:
            kept.append(line)
    is_traceback = any(line.startswith("Traceback ") for line in lines)
    return kept[-MOST:] if is_traceback else kept[:MOST]
