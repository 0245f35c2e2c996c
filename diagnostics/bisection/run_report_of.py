"""From a bisection and the watched run of its failing case to one RunReport. Pure."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.next_step import next_step
from diagnostics.bisection.trial import Failure, Kind
from diagnostics.bisection.words import certainty, headline, needs
from diagnostics.findings import Confidence
from diagnostics.matches import JobOutcome
from diagnostics.run_report import NO_CLASS, UNKNOWN_CLASS, RunReport

CLASSES: Mapping[Kind, tuple[JobOutcome, str]] = {
    Kind.SIGNAL: (JobOutcome.CRASH, "native-crash"),
    Kind.EXCEPTION: (JobOutcome.CRASH, "python-exception"),
    Kind.EXIT: (JobOutcome.CRASH, UNKNOWN_CLASS),
    Kind.HANG: (JobOutcome.HANG, "rank-stalled"),
    Kind.NONFINITE: (JobOutcome.SILENT_WRONG, "nan-on-rank"),
    Kind.DISAGREE: (JobOutcome.SILENT_WRONG, "rank-divergence"),
    Kind.MEMORY: (JobOutcome.CRASH, "host-oom"),
}
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
        module=found.module or None,  # the model itself is no module inside it
        command=command,
        repeat=command,
        exit_code=found.exit_code,
        exit_code_reason=EXIT_REASONS[found.exit_code],
        notes=(*found.notes, *report.notes),
        fix=fix,
        fix_commands=tuple(commands),
    )


def _as_passed(report: RunReport) -> RunReport:
    return replace(
        report, outcome=JobOutcome.OK, failure_class=NO_CLASS, culprit_ranks=(), victim_ranks=(), root_cause=""
    )


def _as_failed(report: RunReport, found: Bisection, failure: Failure) -> RunReport:
    """Fills in what the watch did not see: it fails now and then, or no job would say it."""
    outcome, failure_class = CLASSES[failure.kind]
    told = report.failure_class not in (NO_CLASS, UNKNOWN_CLASS)
    place = report.location or (failure.places[0].split(" ")[0] if failure.places else None) or found.module_place
    sure = Confidence.CONFIRMED if found.modules and found.heals and found.fails_alone else Confidence.LIKELY
    return replace(
        report,
        outcome=report.outcome if told else outcome,
        failure_class=report.failure_class if told else failure_class,
        culprit_ranks=report.culprit_ranks or failure.ranks,
        location=place or None,
        locations=report.locations or ((place,) if place else ()),
        root_cause=_cause(report, found),
        confidence=sure,
    )


def _cause(report: RunReport, found: Bisection) -> str:
    """Returns one text: what fails, what it needs, how that is known, and what the watched run made of it."""
    parts = [headline(found), needs(found) if found.axes else "", certainty(found)]
    if report.root_cause:
        parts.append(f"the watched run: {report.root_cause}")
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
