"""report.md and report.json of a watched job."""

from __future__ import annotations

import json
from collections.abc import Iterator

from diagnostics.core import redaction
from diagnostics.core.findings import to_json
from diagnostics.core.markdown import page
from diagnostics.core.registry import discover
from diagnostics.report import run_sections
from diagnostics.report.run_report import RunReport

SCHEMA = 1


def markdown(report: RunReport) -> str:
    """Returns the page: Markdown that also reads well in a terminal; every section that has lines."""
    return page(line for section in _sections(report) for line in section)


def _sections(report: RunReport) -> Iterator[list[str]]:
    for module in discover(run_sections, key="ORDER").values():
        body: list[str] = module.render(report)
        if body:
            yield [f"{'#' if module.ORDER == 0 else '##'} {module.TITLE}", "", *body, ""]


def json_text(report: RunReport) -> str:
    """Returns report.json, secrets hidden."""
    body = {"schema": SCHEMA, "kind": "run", **to_json(report)}
    return json.dumps(redaction.json_value(body), indent=1) + "\n"
