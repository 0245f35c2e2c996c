"""A verdict as terminal lines or JSON. Pure: the same verdict gives the same lines.

One line a check: mark, code, title; below a failure, indented, how to repeat the observation and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Outcome, Severity, Status, Verdict, to_json

INDENT = " " * 12
MARKS = {Severity.ERROR: "FAIL", Severity.WARNING: "warn", Severity.INFO: "note"}
COLOURS = {"ok": "32", "FAIL": "1;31", "warn": "33", "note": "36", "skip": "2", "HUNG": "1;35", "CRASH?": "1;35"}


def verdict_lines(verdict: Verdict, *, verbose: bool = False, colour: bool = False) -> Iterator[str]:
    """Yields every check's lines and the summary; a healthy verdict is the summary alone unless `verbose`."""
    shown = [outcome for outcome in verdict.outcomes if verbose or not _silent(outcome)]
    for outcome in shown:
        yield from outcome_lines(outcome, verbose=verbose, colour=colour)
    if shown:
        yield ""
    yield summary_line(verdict)


def _silent(outcome: Outcome) -> bool:
    return outcome.status is Status.SKIPPED or (outcome.status is Status.DONE and not outcome.findings)


def outcome_lines(outcome: Outcome, *, verbose: bool = False, colour: bool = False) -> Iterator[str]:
    """Yields the lines of one check; `verbose` adds measurements of passes and tracebacks of crashes."""
    for mark, code, title, details in _blocks(outcome, verbose):
        shown = f"\033[{COLOURS[mark]}m{mark}\033[0m" if colour else mark
        # A mark longer than its column pushes the code aside by one space only.
        yield shown + " " * max(6 - len(mark), 1) + f"{code}  {redaction.line(title)}"
        yield from (f"{INDENT}{redaction.line(line)}" for line in details)


def _blocks(outcome: Outcome, verbose: bool) -> Iterator[tuple[str, str, str, list[str]]]:
    seconds = [f"took: {outcome.seconds:.2f} s"] if verbose else []
    match outcome.status:
        case Status.SKIPPED:
            yield "skip", outcome.code, f"{outcome.title} ({outcome.reason})", []
        case Status.TIMED_OUT:
            yield "HUNG", outcome.code, f"{outcome.title}: {outcome.reason}", seconds
        case Status.CRASHED:
            detail = outcome.detail.splitlines() if verbose else []
            yield "CRASH?", outcome.code, f"{outcome.title}: {outcome.reason}", [*detail, *seconds]
        case Status.DONE if not outcome.findings:
            yield "ok", outcome.code, outcome.title, [*_measured(outcome.measured, verbose), *seconds]
        case Status.DONE:
            for finding in outcome.findings:
                yield MARKS[finding.severity], finding.code, finding.title, list(_details(finding))


def _measured(measured: Any, verbose: bool) -> list[str]:
    plain = to_json(measured)
    return [f"{name}: {value_text(value)}" for name, value in plain.items()] if verbose else []


def _details(finding: Finding) -> Iterator[str]:
    if finding.confidence is not Confidence.CONFIRMED:
        yield f"this is {finding.confidence}, not proven"
    for evidence in finding.evidence:
        yield from _hanging("read: ", evidence_text(evidence))
    if finding.fix is not None:
        yield from _fix(finding.fix)


def _fix(fix: Fix) -> Iterator[str]:
    warning = " (this deletes or stops something)" if fix.destructive else ""
    yield from _hanging("fix:  ", fix.text + warning)
    for command in fix.commands:
        yield f"      {command}"


def _hanging(label: str, text: str) -> Iterator[str]:
    first, *rest = text.splitlines() or [""]
    yield f"{label}{first}"
    yield from (f"{' ' * len(label)}{line}" for line in rest)


def evidence_text(evidence: Evidence) -> str:
    """Returns 'source: observed (expected ...)'."""
    expected = f" (expected {evidence.expected})" if evidence.expected else ""
    return f"{evidence.source}: {evidence.observed}{expected}" if evidence.observed else evidence.source


def value_text(value: Any) -> str:
    """Returns a measured value for people: numbers short, the rest as JSON."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return value if isinstance(value, str) else json.dumps(value)


def summary_line(verdict: Verdict, *, subject: str = "") -> str:
    """Returns '12 checks, nothing found (4.1 s)', or what was found and the command that explains it.

    `subject` takes the place of the number of checks.
    """
    total = len(verdict.outcomes)
    counted = subject or f"{total} check{'s' * (total != 1)}"
    seconds = f"({verdict.seconds:.1f} s)"
    found, aside = _found(verdict), _aside(verdict)
    if found:
        return (
            f"{counted}: {', '.join([*found, *aside])} {seconds}   explain: ups-doctor explain {_worst_code(verdict)}"
        )
    ran = any(outcome.status is not Status.SKIPPED for outcome in verdict.outcomes)
    return ", ".join([counted, "nothing found" if ran else "none of them ran", *aside]) + f" {seconds}"


def _found(verdict: Verdict) -> list[str]:
    severities = [finding.severity for finding in verdict.findings]
    errors, warnings = severities.count(Severity.ERROR), severities.count(Severity.WARNING)
    undecided = [f"{len(verdict.undecided)} undecided"] if verdict.undecided else []
    return [*_counted(errors, "error"), *_counted(warnings, "warning"), *undecided]


def _aside(verdict: Verdict) -> list[str]:
    skipped = sum(outcome.status is Status.SKIPPED for outcome in verdict.outcomes)
    notes = sum(finding.severity is Severity.INFO for finding in verdict.findings)
    return [*_counted(notes, "note"), *([f"{skipped} skipped"] if skipped else [])]


def _counted(number: int, word: str) -> list[str]:
    return [f"{number} {word}{'s' * (number != 1)}"] if number else []


def _worst_code(verdict: Verdict) -> str:
    worst = max(verdict.findings, key=lambda finding: finding.severity, default=None)
    if worst is None or worst.severity is Severity.INFO:
        return verdict.undecided[0].code
    return worst.code


def verdict_json(verdict: Verdict, *, exit_code: int, **about: str) -> str:
    """Returns the verdict as one JSON object, secrets hidden; `about` adds keys of its own."""
    body = {"schema": 1, "exit_code": exit_code, **about, **to_json(verdict)}
    return json.dumps(redaction.json_value(body), indent=1)
