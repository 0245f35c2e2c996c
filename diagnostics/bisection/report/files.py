"""Writes what a bisection found into its folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.json_text import json_text
from diagnostics.bisection.report.markdown import markdown
from diagnostics.bisection.report.module_tree import lines_of
from diagnostics.bisection.report.tree_svg import tree_svg
from diagnostics.bisection.report.words import headline
from diagnostics.core.files import write_whole
from diagnostics.core.shell_quoting import pasteable_here
from diagnostics.report import html_page
from diagnostics.report.run_report import RunReport

FILES = {
    "repro.py": "stand-alone script that fails in the same way",
    "issue.md": "text for a bug report upstream",
    "tree.svg": "the module tree with what was tried",
    "report.json": "all of this for programs",
    "trace-healthy.json": "Chrome trace of the last healthy run",
    "trace-failing.json": "Chrome trace of the failing run",
    "failing-run": "the failing case as a watched run, with its record",
    "tries.jsonl": "every try; --resume goes on from it",
}


def write_reports(report: RunReport, found: Bisection, folder: Path) -> str:
    """Writes report.json, report.md and tree.svg; returns one line that says where they are. Raises OSError."""
    write_whole(folder / "report.json", json_text(report, found))
    lines = lines_of(found.tree)
    if lines:
        write_whole(folder / "tree.svg", tree_svg(f"Bisection of {found.name}", headline(found), lines))
    there = [(name, what) for name, what in FILES.items() if (folder / name).exists()]
    write_whole(folder / "report.md", markdown(report, found, there))
    no_page = html_page.write_beside(folder / "report.md")
    return html_page.place_line(pasteable_here(folder / "report.md"), no_page)


def shown_path(folder: Path) -> str:
    """Returns a path relative to the current folder where it lies below it."""
    with suppress(ValueError, OSError):
        return str(folder.relative_to(Path.cwd()))
    return str(folder)
