"""What is wrong: the worst first, each with where, how to see it again, and what to do."""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.markdown import block, code, inline
from diagnostics.report.check_report import CheckReport

ORDER = 10
TITLE = "Findings"

WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: CheckReport) -> list[str]:
    """Returns one part a finding; nothing where nothing was found."""
    ordered = sorted(report.verdict.findings, key=lambda finding: -finding.severity)
    return [line for finding in ordered for line in _finding(finding)][:-1]


def _finding(finding: Finding) -> list[str]:
    certainty = "" if finding.confidence is Confidence.CONFIRMED else f", {finding.confidence} (not proven)"
    return [
        f"### {finding.code} {WORDS[finding.severity]}: {inline(finding.title)}",
        "",
        f"Where: {code(finding.where)} ({inline(finding.name)}{certainty})",
        "",
        *(line for evidence in finding.evidence for line in _evidence(evidence)),
        *(_fix(finding.fix) if finding.fix else []),
        "",
    ]


def _evidence(evidence: Evidence) -> list[str]:
    expected = f" (expected: {inline(evidence.expected)})" if evidence.expected else ""
    observed = evidence.observed.splitlines()
    if len(observed) > 1:
        return [f"- read {code(evidence.source)}{expected}:", "", *block(observed)]
    return [f"- read {code(evidence.source)}: {inline(evidence.observed)}{expected}"]


def _fix(fix: Fix) -> list[str]:
    warning = " (this deletes or stops something)" if fix.destructive else ""
    lines = ["", f"Fix{warning}: {inline(fix.text)}"]
    return [*lines, "", *block(fix.commands)] if fix.commands else lines
