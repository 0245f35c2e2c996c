"""report.md and report.json of a watched job."""

from __future__ import annotations

import json

from diagnostics.core import redaction
from diagnostics.core.findings import to_json
from diagnostics.report import run_sections
from diagnostics.report.run_report import RunReport
from diagnostics.report.section_page import section_page

SCHEMA = 1


def markdown(report: RunReport) -> str:
    """Returns the page: Markdown that also reads well in a terminal; every section that has lines."""
    return section_page(run_sections, report)


def json_text(report: RunReport) -> str:
    """Returns report.json, secrets hidden."""
    body = {"schema": SCHEMA, "kind": "run", **to_json(report)}
    return json.dumps(redaction.json_value(body), indent=1) + "\n"
