"""Writes a report folder: report.md for people, report.json for programs.

A folder is never used twice; files appear under their names only when they are complete.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.core.findings import to_json
from diagnostics.core.markdown import page
from diagnostics.core.registry import discover
from diagnostics.report import check_sections
from diagnostics.report.check_report import Report


def new_folder(parent: Path, kind: str = "preflight", now: float | None = None) -> Path:
    """Makes and returns `parent/<time>-<kind>`, with a number behind it where that exists. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    number = 1
    while True:
        folder = parent / (f"{stamp}-{kind}" if number == 1 else f"{stamp}-{kind}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return folder


def write(report: Report, folder: Path) -> Path:
    """Writes report.json and report.md into `folder` and returns the path of report.md. Raises OSError."""
    write_whole(folder / "report.json", json_text(report))
    write_whole(folder / "report.md", markdown(report))
    return folder / "report.md"


def write_whole(path: Path, text: str) -> None:
    """Writes a file that only its owner may read; a reader sees the old one or the new one. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def markdown(report: Report) -> str:
    """Returns the report as Markdown that also reads well in a terminal; every section that has lines."""
    return page(line for section in _sections(report) for line in section)


def _sections(report: Report) -> Iterator[list[str]]:
    for module in discover(check_sections, key="ORDER").values():
        body: list[str] = module.render(report)
        if body:
            yield [f"{'#' if module.ORDER == 0 else '##'} {module.TITLE}", "", *body, ""]


def json_text(report: Report) -> str:
    """Returns the report as JSON, schema 1, secrets hidden."""
    body = to_json(report)
    return json.dumps(redaction.json_value({"schema": 1, "kind": "preflight", **body}), indent=1) + "\n"
