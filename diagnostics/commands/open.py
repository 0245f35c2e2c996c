"""`ups-doctor open [RUN]`: the page of a report, by default the latest one, in the user's browser."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import click

from diagnostics.argument_types import PathArgument
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError
from diagnostics.core.shell_quoting import pasteable
from diagnostics.report.html_page import NAME, write_beside
from diagnostics.supervisor.capture.run_folder import REPORTS

GRAPHICAL = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@click.command("open")
@click.argument("run", required=False, type=PathArgument("any"))
@click.option("--print", "only_print", is_flag=True, help="Print its path and open nothing.")
def command(run: Path | None, only_print: bool) -> None:
    """Opens report.html of RUN, a report's folder, or of the latest one below reports/, and prints its path.

    Where there is no screen the path alone is printed: the page is one file, copy it to where a browser is. Exit code:
    0 there is one, 2 there is none.
    """
    page = _page(run) if run is not None else _latest()
    say(str(page))
    if not only_print and any(os.environ.get(name) for name in GRAPHICAL):
        webbrowser.open(page.as_uri())


def _page(run: Path) -> Path:
    """Returns the page of a folder, made anew from report.md where only that is there. Raises UsageError."""
    folder = run if run.is_dir() else run.parent
    folder = folder.parent if folder.name == "record" else folder
    page = folder / NAME
    if not page.is_file() and (folder / "report.md").is_file() and (reason := write_beside(folder / "report.md")):
        raise UsageError(reason, hint=f"the same in plain text: {folder / 'report.md'}")
    if not page.is_file():
        raise UsageError(f"{run} holds no {NAME}", hint=_remedy(folder))
    return page.absolute()


def _remedy(folder: Path) -> str:
    if (folder / "record").is_dir():
        return f"have it made: ups-doctor diagnose {pasteable(folder)}"
    return f"name the folder of a report: {REPORTS}/<time>-run/"


def _latest() -> Path:
    """Returns the page that was written last. Raises UsageError."""
    pages = [(page.stat().st_mtime, page) for page in REPORTS.glob(f"*/{NAME}") if page.is_file()]
    if not pages:
        raise UsageError(
            f"no {NAME} below {REPORTS.absolute()}", hint="name the report's folder: ups-doctor open FOLDER"
        )
    return max(pages)[1].absolute()
