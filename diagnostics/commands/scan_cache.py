"""`ups-doctor scan-cache PATH...`: device tags, cuts and unsafe pickles in cache files, read without loading them."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import click

from diagnostics.cache import scan
from diagnostics.cache_lines import lines
from diagnostics.cache_scan import KEPT_FILES
from diagnostics.findings import to_json

REDRAW_S = 0.2


class ProgressLine:
    """One live line on stderr; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self.drawn = 0.0

    def scanned(self, files: int, bad: int) -> None:
        """Redraws a few times a second."""
        if self.shown and time.monotonic() - self.drawn > REDRAW_S:
            self.drawn = time.monotonic()
            click.echo(f"\r{files} files scanned, {bad} bad", nl=False, err=True)

    def clear(self) -> None:
        """Leaves the line empty for what follows."""
        if self.shown and self.drawn:
            click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


@click.command("scan-cache")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(1), default=None, help="Processes to scan with; default: the CPU cores.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--limit", type=click.IntRange(0), default=KEPT_FILES, help="Bad files listed in the JSON.")
@click.pass_context
def command(context: click.Context, paths: tuple[Path, ...], jobs: int | None, as_json: bool, limit: int) -> None:
    """Scans cache files and folders for CUDA tags, truncation and unsafe pickles.

    Nothing is unpickled and torch is not needed. Exit code: 0 clean, 1 something is wrong, 2 no such path
    or no cache file in it, 130 stopped by Ctrl-C (what was found so far is shown).
    """
    progress = ProgressLine()
    result = scan(paths, jobs=jobs or len(os.sched_getaffinity(0)), observer=progress)
    progress.clear()
    if as_json:
        shown = replace(result, bad_files=result.bad_files[:limit])
        click.echo(json.dumps({"schema": 1, "exit_code": result.exit_code, **to_json(shown)}, indent=1))
    else:
        click.echo("\n".join(lines(result)))
    context.exit(result.exit_code)
