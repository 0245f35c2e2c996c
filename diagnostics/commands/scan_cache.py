"""`ups-doctor scan-cache PATH...`: device tags, cuts and unsafe pickles in cache files, read without loading them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import click

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.engine import scan
from diagnostics.cache.scan.files import counted
from diagnostics.cache.scan.result import KEPT_FILES, ScanResult
from diagnostics.cache.scan.terminal import bad_line, lines
from diagnostics.core import redaction
from diagnostics.core.console import redraw, say, wants_colour
from diagnostics.core.errors import USAGE_EXIT, UsageError
from diagnostics.core.findings import to_json

REDRAW_S = 0.2
BAR = 24
COUNT_S = 0.5  # so long files are counted beforehand, for the bar
MOST_JOBS = 16  # one process puts the answers together and can serve no more


class ScanBar:
    """A bar on stderr, silent where stderr is no terminal; hands each bad file on."""

    def __init__(self, total: int | None, found: Callable[[FileScan], None]) -> None:
        self.shown = sys.stderr.isatty()
        self.total = total
        self.found = found
        self.began = self.drawn = 0.0

    def scanned(self, files: int, bad: int) -> None:
        """Redraws a few times a second."""
        if not self.shown or time.monotonic() - self.drawn < REDRAW_S:
            return
        self.drawn = time.monotonic()
        if not self.began:
            self.began = self.drawn
            return
        redraw(self._line(files, bad))

    def _line(self, files: int, bad: int) -> str:
        rate = files / (self.drawn - self.began)
        told = f"{bad:,} bad, {rate:,.0f} files/s"
        if self.total is None:
            return f"{files:,} files, {told}"
        done = min(files / max(self.total, 1), 1)
        bar = ("#" * round(done * BAR)).ljust(BAR, ".")
        return f"[{bar}] {files:,} of {self.total:,} files, {told}, {max(self.total - files, 0) / rate:.0f} s left"

    def clear(self) -> None:
        """Leaves the line empty for what follows."""
        if self.shown:
            redraw("")


@click.command("scan-cache")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--deep", is_flag=True, help="Read every byte, too, and compare checksums.")
@click.option("--jobs", type=click.IntRange(1), default=None, help="Processes to scan with; default: the CPU cores.")
@click.option("-v", "--verbose", is_flag=True, help="List every bad file with what is wrong with it.")
@click.option("--list", "only_paths", is_flag=True, help="Print only the paths of bad files, one a line.")
@click.option("-0", "--null", is_flag=True, help="With --list: end each path with a NUL, for xargs -0.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--none-ok", is_flag=True, help="Exit with 0, not 2, where no cache file is in PATH: for hooks.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--limit", type=click.IntRange(0), default=KEPT_FILES, help="Bad files listed in the JSON.")
@click.pass_context
def command(
    context: click.Context,
    paths: tuple[str, ...],
    deep: bool,
    jobs: int | None,
    verbose: bool,
    only_paths: bool,
    null: bool,
    strict: bool,
    none_ok: bool,
    as_json: bool,
    limit: int,
) -> None:
    """Scans cache files and folders for CUDA tags, truncation and unsafe pickles.

    Nothing is unpickled and torch is not needed. Exit code: 0 clean, 1 something is wrong, 2 no such path
    or no cache file in it, 3 not all files could be scanned, 130 stopped by Ctrl-C (what was found so far is
    shown).
    """
    if null and not only_paths:
        raise click.UsageError("-0 goes with --list", context)
    if only_paths and (as_json or verbose):
        raise click.UsageError("--list goes with neither --json nor --verbose", context)
    if "" in paths:
        raise UsageError("one of the paths is empty: a variable that is not set?", hint="ups-doctor scan-cache FOLDER")
    named = [Path(path) for path in paths]
    progress = ScanBar(None, lambda found: None)
    if progress.shown:
        progress.total = counted(named, within_s=COUNT_S)
    if only_paths or (verbose and not as_json):
        progress.found = _listing(progress, only_paths, "\0" if null else "\n")
    result = scan(named, jobs=jobs or min(len(os.sched_getaffinity(0)), MOST_JOBS), deep=deep, observer=progress)
    progress.clear()
    code = result.exit_code or int(strict and bool(result.findings))
    if none_ok and code == USAGE_EXIT:  # a path that does not exist has ended the command before
        code = 0
    if as_json:
        shown = replace(result, bad_files=result.bad_files[:limit])
        say(json.dumps(redaction.json_value({"schema": 1, "exit_code": code, **to_json(shown)}), indent=1))
    elif not only_paths:
        _show(result)
    elif result.stopped:
        say(f"error: {result.stopped}; the files after it were not scanned", err=True)
    context.exit(code)


def _listing(progress: ScanBar, only_paths: bool, end: str) -> Callable[[FileScan], None]:
    """Returns what prints a bad file at once: however many they are, all are listed."""
    stdout: BinaryIO = sys.stdout.buffer

    def found(bad: FileScan) -> None:
        progress.clear()
        if only_paths and not (stdout.isatty() and end == "\n"):
            stdout.write(os.fsencode(bad.path + end))  # a path as the disk has it, whatever its bytes
        else:  # what a person reads
            say(bad.path if only_paths else bad_line(bad))

    return found


def _show(result: ScanResult) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    colour = wants_colour()
    say("\n".join(lines(result, width=width, colour=colour)), colour=colour)
