"""Writes a report folder: report.md for people, report.json for programs.

A folder is never used twice; files appear under their names only when they are complete.
"""

from __future__ import annotations

import json
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.core.files import write_whole
from diagnostics.core.findings import to_json
from diagnostics.core.shell_quoting import pasteable
from diagnostics.report import check_sections, html_page
from diagnostics.report.check_report import CheckReport
from diagnostics.report.section_page import section_page


def write(report: CheckReport, folder: Path) -> str:
    """Writes report.json and report.md into `folder` and returns the line that says so. Raises OSError."""
    write_whole(folder / "report.json", json_text(report))
    write_whole(folder / "report.md", markdown(report))
    no_page = html_page.write_beside(folder / "report.md")
    return html_page.place_line(pasteable(folder / "report.md"), no_page)


def markdown(report: CheckReport) -> str:
    """Returns the report as Markdown that also reads well in a terminal; every section that has lines."""
    return section_page(check_sections, report)


def json_text(report: CheckReport) -> str:
    """Returns the report as JSON, schema 1, secrets hidden."""
    body = to_json(report)
    return json.dumps(redaction.json_value({"schema": 1, "kind": "preflight", **body}), indent=1) + "\n"
