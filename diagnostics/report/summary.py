"""The last lines on the terminal after a watched job: ten at most, where its first one fits."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from diagnostics.core import redaction
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.report.headline import headline, ranks_in_words
from diagnostics.report.run_report import NO_CLASS, RunReport

MAX_LINES = 10
NARROWEST = 40
WIDE = 120
ROOMY = 100  # narrower terminals give a reason a line more, so that its end is read, too
COLOURS = {JobOutcome.OK: "32", JobOutcome.SLOW: "33", JobOutcome.UNKNOWN: "33"}
RED = "1;31"
_NUMBER = re.compile(r"^> *\d+ ")


def summary_lines(report: RunReport, place: str, *, colour: bool = False, width: int = 0) -> list[str]:
    """Returns the summary; `place` says where the report is, or why there is none.

    `width` is that of the terminal; 0 where it is none: what a program reads has its first line whole.
    """
    head = _whole(redaction.line(f"ups-doctor: {headline(report)}"), width)
    if colour:
        head = [f"\033[{COLOURS.get(report.outcome, RED)}m{line}\033[0m" for line in head]
    body = [redaction.line(line) for line in _body(report, width or WIDE)]
    return [*head, *body[: max(MAX_LINES - 1 - len(head), 2)], f"  {redaction.line(place)}"]


def _whole(text: str, width: int) -> list[str]:
    """Returns a text in lines of the terminal, none of it left out, so that a narrow one breaks no word."""
    if not width:
        return [text]
    return textwrap.wrap(
        text, max(width, NARROWEST), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _body(report: RunReport, width: int) -> Iterator[str]:
    if report.failure_class != NO_CLASS:
        if report.culprit_ranks and report.victim_ranks:
            victims = ranks_in_words(report.victim_ranks)
            yield f"  who    {ranks_in_words(report.culprit_ranks)}; {victims} only suffered"
        yield from _source(report)
        if report.root_cause:
            guess = "" if report.confidence is Confidence.CONFIRMED else f" ({report.confidence}, not proven)"
            yield from _wrapped("  why    ", report.root_cause + guess, width, lines=2 if width >= ROOMY else 3)
        if report.fix and report.outcome is not JobOutcome.OK:
            yield from _wrapped("  fix    ", report.fix, width, lines=2)
    lines = 2 if report.failure_class == NO_CLASS else 1  # where there is nothing else to say, there is room
    for note in report.notes[:2]:
        yield from _wrapped("  note   ", note, width, lines=lines)


def _source(report: RunReport) -> Iterator[str]:
    marked = [line for excerpt in report.sources[:1] for line in excerpt.lines if line.startswith(">")]
    if report.location is not None and marked:
        yield f"  line   {report.location}:  {_NUMBER.sub('', marked[0]).strip()}"


def _wrapped(label: str, text: str, width: int, *, lines: int) -> Iterator[str]:
    room = max(width - len(label), NARROWEST)
    wrapped = textwrap.wrap(" ".join(text.split()), room, max_lines=lines, placeholder=" ...", break_on_hyphens=False)
    for number, line in enumerate(wrapped):
        yield (label if number == 0 else " " * len(label)) + line
