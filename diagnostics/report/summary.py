"""The last lines on the terminal after a watched job: ten at most, where its first one fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.core import redaction
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.wording import fitted, hanging
from diagnostics.report.headline import headline, ranks_in_words
from diagnostics.report.run_report import NO_CLASS, RunReport

MAX_LINES = 10
WIDE = 120
ROOMY = 100  # narrower terminals give a reason a line more, so that its end is read, too
COLOURS = {JobOutcome.OK: "32", JobOutcome.SLOW: "33", JobOutcome.UNKNOWN: "33"}
RED = "1;31"
_NUMBER = re.compile(r"^> *\d+ ")


def summary_lines(report: RunReport, place: str, *, colour: bool = False, width: int = 0) -> list[str]:
    """Returns the summary; `place` says where the report is, or why there is none.

    `width` is that of the terminal; 0 where it is none: what a program reads has its first line whole.
    """
    head = fitted(redaction.line(f"ups-doctor: {headline(report)}"), width)
    if colour:
        head = [f"\033[{COLOURS.get(report.outcome, RED)}m{line}\033[0m" for line in head]
    body = [redaction.line(line) for line in _body(report, width or WIDE)]
    return [*head, *body[: max(MAX_LINES - 1 - len(head), 2)], f"  {redaction.line(place)}"]


def _body(report: RunReport, width: int) -> Iterator[str]:
    if report.failure_class != NO_CLASS:
        more = report.location is None and not report.culprit_ranks  # with none of these lines there is room
        if report.culprit_ranks and report.victim_ranks:
            victims = ranks_in_words(report.victim_ranks)
            yield f"  who    {ranks_in_words(report.culprit_ranks)}; {victims} only suffered"
        yield from _source(report)
        if report.root_cause:
            guess = "" if report.confidence is Confidence.CONFIRMED else f" ({report.confidence}, not proven)"
            yield from hanging("  why    ", report.root_cause + guess, width, lines=(2 if width >= ROOMY else 3) + more)
        if report.fix and report.outcome is not JobOutcome.OK:
            yield from hanging("  fix    ", report.fix, width, lines=2 + more if width < ROOMY else 2)
    lines = 2 if report.failure_class == NO_CLASS else 1  # where there is nothing else to say, there is room
    for note in report.notes[:2]:
        yield from hanging("  note   ", note, width, lines=lines)


def _source(report: RunReport) -> Iterator[str]:
    marked = [line for excerpt in report.sources[:1] for line in excerpt.lines if line.startswith(">")]
    if report.location is not None and marked:
        yield f"  line   {report.location}:  {_NUMBER.sub('', marked[0]).strip()}"
