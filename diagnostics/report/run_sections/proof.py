"""Each finding with the observations behind it; what only followed from the root comes last."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Finding, Role, Severity
from diagnostics.core.markdown import block, code, inline
from diagnostics.report.run_report import RunReport

ORDER = 10
TITLE = "Proof"

WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: RunReport) -> list[str]:
    """Returns one part a finding, in the order in which diagnosis ranked them."""
    return [line for finding in report.findings for line in _finding(finding)][:-1]


def _finding(finding: Finding) -> list[str]:
    certainty = "" if finding.confidence is Confidence.CONFIRMED else f", {finding.confidence} (not proven)"
    followed = ", followed from the above" if finding.role is Role.CASCADE else ""
    where = f" at {code(finding.where)}" if finding.where else ""
    return [
        f"### {finding.code} {WORDS[finding.severity]}: {inline(finding.title)}",
        "",
        f"{inline(finding.name)}{where}{certainty}{followed}",
        "",
        *_evidence(finding.evidence),
        "",
    ]


def _evidence(evidence: Sequence[Evidence]) -> list[str]:
    lines = [line for one in evidence for line in _observation(one)]
    return lines if lines[-1] else lines[:-1]


def _observation(evidence: Evidence) -> list[str]:
    expected = f" (expected: {inline(evidence.expected)})" if evidence.expected else ""
    observed = evidence.observed.splitlines()
    if len(observed) > 1:
        return [f"- {code(evidence.source)}{expected}:", "", *block(observed), ""]
    return [f"- {code(evidence.source)}: {inline(evidence.observed)}{expected}"]
