"""From a bisection and the watched run of its failing case to one RunReport. Pure."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.next_step import next_step
from diagnostics.bisection.report.words import certainty, headline, needs
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.own_folders import CHILDREN
from diagnostics.report.run_report import NO_CLASS, UNKNOWN_CLASS, RunReport, SourceExcerpt

CLASSES: Mapping[FailureKind, tuple[JobOutcome, str]] = {
    FailureKind.SIGNAL: (JobOutcome.CRASH, "native-crash"),
    FailureKind.EXCEPTION: (JobOutcome.CRASH, "python-exception"),
    FailureKind.EXIT: (JobOutcome.CRASH, UNKNOWN_CLASS),
    FailureKind.HANG: (JobOutcome.HANG, "rank-stalled"),
    FailureKind.NONFINITE: (JobOutcome.SILENT_WRONG, "nan-on-rank"),
    FailureKind.DISAGREE: (JobOutcome.SILENT_WRONG, "rank-divergence"),
    FailureKind.MEMORY: (JobOutcome.CRASH, "host-oom"),
}
OURS = str(CHILDREN)
OUR_LINE = re.compile(re.escape(OURS) + r"\S{0,300}?:\d+")
EXIT_REASONS = {0: "it does not fail", 1: "it fails, and where was found", 3: "where it fails is undecided"}


def run_report_of(found: Bisection, seen: RunReport | None, *, command: str, started: str) -> RunReport:
    """Returns what the watched run says, with the bisection's module, cause, exit code and command.

    `seen` is None where no run was watched to its end; what it does not say is taken from the tries.
    """
    report = seen if seen is not None else _empty(started)
    fix, commands = next_step(found)
    filled = _as_passed(report) if found.failure is None else _as_failed(report, found, found.failure)
    return replace(
        filled,
        module=_module(found, report),
        command=command,
        repeat=command,
        exit_code=found.exit_code,
        exit_code_reason=EXIT_REASONS[found.exit_code],
        notes=(*found.notes, *report.notes),
        fix=fix,
        fix_commands=tuple(commands),
    )


def _module(found: Bisection, seen: RunReport) -> str | None:
    """Returns the one module; of several the one in which the watched run saw it fail, or where it comes to light."""
    if len(found.modules) < 2:
        return found.module or None  # the model itself is no module inside it
    if seen.module in found.modules:
        return seen.module
    return found.modules[0 if found.relation == "each" else -1]


def _as_passed(report: RunReport) -> RunReport:
    return replace(
        report, outcome=JobOutcome.OK, failure_class=NO_CLASS, culprit_ranks=(), victim_ranks=(), root_cause=""
    )


def _as_failed(report: RunReport, found: Bisection, failure: Failure) -> RunReport:
    """Fills in what the watch did not see: it fails now and then, or no job would say it."""
    outcome, failure_class = CLASSES[failure.kind]
    told = report.failure_class not in (NO_CLASS, UNKNOWN_CLASS)
    places = _places(report, found, failure)
    sure = Confidence.CONFIRMED if found.modules and found.heals and found.fails_alone else Confidence.LIKELY
    return replace(
        report,
        outcome=report.outcome if told else outcome,
        failure_class=report.failure_class if told else failure_class,
        culprit_ranks=report.culprit_ranks or failure.ranks,
        location=places[0] if places else None,
        locations=places,
        sources=tuple(sorted((one for one in report.sources if one.location in places), key=_order(places))),
        root_cause=_cause(report, found),
        confidence=sure,
    )


def _places(report: RunReport, found: Bisection, failure: Failure) -> tuple[str, ...]:
    """Returns the lines to look at: those of the watched run, unless its module is not the one that was found."""
    own = [one for one in report.locations if not one.startswith(OURS)] if not _contradicts(report, found) else []
    failed_at = [place.rpartition(" < ")[2].split(" ")[0] for place in failure.places]
    lines = [*own, *(place for place in failed_at if _has_line(place)), found.module_place]
    return tuple(dict.fromkeys(filter(None, lines)))


def _order(places: Sequence[str]) -> Callable[[SourceExcerpt], int]:
    return lambda one: places.index(one.location)


def _has_line(place: str) -> bool:
    return place.rpartition(":")[2].isdigit()


def _contradicts(report: RunReport, found: Bisection) -> bool:
    """Returns whether the watched run, which saw one failure only, names a module that the tries rule out."""
    paths = {row.path for row in found.tree}  # in a constructor a class is all there is to name
    if not found.modules or report.module not in paths:
        return False
    return not any(_related(report.module, module) for module in found.modules)


def _related(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.") or not other


def _cause(report: RunReport, found: Bisection) -> str:
    """Returns one text: what fails, what it needs, how that is known, and what the watched run made of it."""
    parts = [headline(found), needs(found) if found.axes else "", certainty(found)]
    if report.root_cause and not _contradicts(report, found):
        parts.append(f"the watched run: {OUR_LINE.sub('the training step', report.root_cause)}")
    return ". ".join(part[0].upper() + part[1:] if number else part for number, part in enumerate(filter(None, parts)))


def _empty(started: str) -> RunReport:
    return RunReport(
        doctor_version=version("ups-doctor"),
        provisional=False,
        outcome=JobOutcome.OK,
        failure_class=NO_CLASS,
        culprit_ranks=(),
        victim_ranks=(),
        location=None,
        locations=(),
        module=None,
        root_cause="",
        fix="",
        confidence=Confidence.LIKELY,
        findings=(),
        timeline=(),
        ranks=(),
        coverage={},
        job_exit_code=None,
        exit_code=0,
        exit_code_reason="",
        seconds={},
        command="",
        environment={"python": sys.version.split()[0]},
        cwd=os.getcwd(),  # noqa: PTH109 - as a watched run has it
        started=started,
    )
