"""What was measured, for comparison with another machine or a later day."""

from __future__ import annotations

import json
from typing import Any

from diagnostics.core.findings import to_json
from diagnostics.core.markdown import inline, table
from diagnostics.report.check_report import CheckReport

ORDER = 50
TITLE = "Measurements"
LONGEST = 60  # characters; report.json holds the whole value


def render(report: CheckReport) -> list[str]:
    """Returns a table of all measurements; the unit is the end of each name."""
    rows = [
        (outcome.code, inline(name), inline(_shown(value)))
        for outcome in report.verdict.outcomes
        for name, value in to_json(outcome.measured).items()
    ]
    return table(("check", "what", "value"), rows) if rows else []


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... (report.json has it all)"
