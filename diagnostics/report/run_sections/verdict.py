"""The first screen: what happened, who did it, where, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.markdown import block, code, inline
from diagnostics.report.headline import headline, ranks_in_words
from diagnostics.report.run_report import NO_CLASS, RunReport

ORDER = 0
TITLE = "Run report"


def render(report: RunReport) -> list[str]:
    """Returns the verdict, the source lines it points at, and the fix."""
    lines = [f"**{inline(headline(report))}**", ""]
    if report.failure_class != NO_CLASS:
        lines += [*_facts(report), ""]
        lines += [line for excerpt in report.sources[:1] for line in (*block(excerpt.lines), "")]
        lines += _fix(report)
    lines += [f"- {inline(note)}" for note in report.notes]
    return lines if lines[-1] else lines[:-1]


def _facts(report: RunReport) -> Iterator[str]:
    yield f"- what: {code(report.failure_class)}, outcome {code(report.outcome)}"
    if report.culprit_ranks:
        victims = f" ({ranks_in_words(report.victim_ranks)} only suffered)" if report.victim_ranks else ""
        yield f"- who: {ranks_in_words(report.culprit_ranks)}{victims}"
    if report.location is not None:
        others = ", ".join(code(place) for place in report.locations[1:4])
        yield f"- where: {code(report.location)}{f', see also {others}' if others else ''}"
    if report.module:
        yield f"- module: {code(report.module)}"
    if report.root_cause:
        yield f"- why: {inline(report.root_cause)}"
    yield f"- how sure: {_certainty(report)}"


def _certainty(report: RunReport) -> str:
    words = {
        Confidence.CONFIRMED: "confirmed: measured or proven, see the proof below",
        Confidence.LIKELY: "likely: a guess that the evidence supports, not proven",
        Confidence.POSSIBLE: "possible: a guess, one of several",
    }
    return words[report.confidence]


def _fix(report: RunReport) -> list[str]:
    if not report.fix or report.outcome is JobOutcome.OK:
        return []
    lines = [f"Fix: {inline(report.fix)}", ""]
    return [*lines, *block(report.fix_commands), ""] if report.fix_commands else lines
