"""A verdict in words: the same sentence on the terminal and at the top of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.report.run_report import NO_CLASS, UNKNOWN_CLASS, RunReport

OUTCOMES = {
    JobOutcome.OK: "The job ended well",
    JobOutcome.CRASH: "The job crashed",
    JobOutcome.HANG: "The job hung",
    JobOutcome.SILENT_WRONG: "The job claims success, but trained wrongly",
    JobOutcome.SLOW: "The job is slow",
    JobOutcome.UNKNOWN: "Whether the job goes on cannot be told",
}
# A job that was asked to end claims nothing: it neither ended well nor said that it did.
CUT_SHORT = {
    "interrupt": {JobOutcome.OK: "The job was interrupted", JobOutcome.SILENT_WRONG: "The job trained wrongly"},
    "doctor": {JobOutcome.OK: "The job was ended by the doctor", JobOutcome.SILENT_WRONG: "The job trained wrongly"},
}
RUNNING = {JobOutcome.HANG: "The job makes no progress", JobOutcome.OK: "The job goes on"}
NOT_SEEN = "Nothing shows that the job failed"
SHOWN_RANKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldVerdict:
    """What the sentence is made of, of a report that was read from its file."""

    outcome: JobOutcome
    failure_class: str
    culprit_ranks: tuple[int, ...]
    module: str
    location: str | None
    confidence: Confidence
    provisional: bool
    cut_short: str


def read_verdict(report: Mapping[str, Any]) -> ToldVerdict:
    """Returns the verdict of a report.json. Raises ValueError where it is none."""
    if report.get("kind") != "run":
        raise ValueError("no report of a run")
    ranks = report.get("culprit_ranks")
    return ToldVerdict(
        outcome=JobOutcome(str(report.get("outcome"))),
        failure_class=str(report.get("failure_class", NO_CLASS)),
        culprit_ranks=tuple(rank for rank in ranks if isinstance(rank, int)) if isinstance(ranks, list) else (),
        module=str(report.get("module") or ""),
        location=str(report["location"]) if report.get("location") else None,
        confidence=Confidence(report.get("confidence", Confidence.CONFIRMED)),
        provisional=bool(report.get("provisional")),
        cut_short=str(report.get("cut_short") or ""),
    )


def headline(report: RunReport | ToldVerdict) -> str:
    """Returns the verdict in one sentence: outcome, class, culprit, module, line."""
    began = "Provisional: " if report.provisional else ""
    special = RUNNING if report.provisional else CUT_SHORT.get(report.cut_short, {})
    outcome = special.get(report.outcome, OUTCOMES[report.outcome])
    if outcome == OUTCOMES[JobOutcome.OK] and report.confidence is not Confidence.CONFIRMED:
        outcome = NOT_SEEN  # its end
    if report.failure_class == NO_CLASS:
        return f"{began}{outcome}."
    if report.outcome is JobOutcome.UNKNOWN:
        return f"{began}{outcome}; here is what was seen."
    if report.failure_class == UNKNOWN_CLASS:
        return f"{began}{outcome}; why is unknown, here is what was seen."
    parts = [class_and_ranks(report.failure_class, report.culprit_ranks)]
    if report.module:
        # Members of a Sequential are called 0, 1, ...: a bare number tells nothing.
        parts.append(f"in {'module ' if report.module[:1].isdigit() else ''}{report.module}")
    if report.location is not None:
        parts.append(f"at {report.location}")
    return f"{began}{outcome}: {' '.join(parts)}."


def class_and_ranks(failure_class: str, ranks: Sequence[int]) -> str:
    """Returns "rank-stalled on rank 1"."""
    return f"{failure_class} on {ranks_in_words(ranks)}" if ranks else failure_class


def ranks_in_words(ranks: Sequence[int]) -> str:
    """Returns "rank 1", "ranks 0, 2" or "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 56 more"."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = ", ".join(map(str, ranks[:SHOWN_RANKS]))
    more = len(ranks) - SHOWN_RANKS
    return f"ranks {shown} and {more} more" if more > 0 else f"ranks {shown}"
