"""Writes report.html beside report.md. A page that cannot be made or written costs the report nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from diagnostics.core.errors import from_os_error
from diagnostics.core.files import write_whole
from diagnostics.report.headline import headline
from diagnostics.report.run_report import RunReport

NAME = "report.html"
MOST_OF_A_PICTURE = 256 << 10


def write_run_page(report: RunReport, text: str, folder: Path) -> str:
    """Writes the page of a watched job, whose report.json is `text`; returns "" or why there is none."""
    try:
        # Templates are loaded where a page is made: the command line has no need of them.
        from diagnostics.report.html.run_page import run_page

        return _write(run_page(json.loads(text), headline(report), report.trace), folder)
    except Exception as error:  # report.md is written already, and stands
        return _no_page(folder, error)


def write_beside(markdown: Path) -> str:
    """Writes the page of any report.md; returns "" or why there is none."""
    try:
        from diagnostics.report.html.markdown_page import markdown_page

        text = markdown.read_text(encoding="utf-8")
        pictures = {path.name: path.read_bytes() for path in sorted(markdown.parent.glob("*.svg")) if _is_ours(path)}
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), "report")
        return _write(markdown_page(text, f"ups-doctor: {title}", pictures), markdown.parent)
    except Exception as error:
        return _no_page(markdown.parent, error)


def _is_ours(picture: Path) -> bool:
    return not picture.is_symlink() and picture.stat().st_size <= MOST_OF_A_PICTURE


def _write(page: str, folder: Path) -> str:
    write_whole(folder / NAME, page)
    return ""


def _no_page(folder: Path, error: Exception) -> str:
    """Takes an earlier page away, which would tell something else than report.md."""
    with suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)
    if isinstance(error, OSError):
        refused = from_os_error(error, action="cannot write", path=folder / NAME)
        return f"no {NAME}: {refused.message}"
    return f"no {NAME}: {type(error).__name__}: {error}"


def place_line(report: str, reason: str) -> str:
    """Returns the line that says where a report is, and, where there is a reason for it, that it has no page."""
    return f"report: {report}" + (f" ({reason})" if reason else "")
