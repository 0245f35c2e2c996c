"""A finding as text with nothing left out, so that a test compares all of it."""

from __future__ import annotations

from collections.abc import Iterable

from diagnostics.core.findings import Confidence, Finding


def told(findings: Iterable[Finding]) -> str:
    """Returns each finding's severity, code, name, place, title, evidence and fix; "" where there are none."""
    return "\n\n".join(_told(finding) for finding in findings)


def _told(finding: Finding) -> str:
    sure = "" if finding.confidence is Confidence.CONFIRMED else f" ({finding.confidence})"
    lines = [f"{finding.severity.name}{sure} {finding.code} {finding.name} at {finding.where}", finding.title]
    for item in finding.evidence:
        lines.append(f"saw {item.observed} by {item.source}" + (f", not {item.expected}" if item.expected else ""))
    if finding.fix is not None:
        lines.append(f"fix: {finding.fix.text}")
        lines += [f"{'!' if finding.fix.destructive else '$'} {command}" for command in finding.fix.commands]
    return "\n".join(lines)
