"""`ups-doctor fix-cache PATH...`: cache files made loadable without the GPU they were saved from."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diagnostics.adapter import interpreter
from diagnostics.argument_types import PathArgument
from diagnostics.cache.repair.engine import Prepared, RepairOptions, RepairResult, carry_out, prepare, refuse
from diagnostics.cache.repair.report import fix_json, write_report
from diagnostics.cache.repair.terminal import fitted, plan_lines, question, result_lines
from diagnostics.core.console import ask, redraw, say
from diagnostics.core.errors import UsageError

if TYPE_CHECKING:
    from diagnostics.cache.repair.regenerate import Regeneration

REDRAW_S = 0.2
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("fix-cache")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show the plan and change nothing; exit code 1 if something is to do.")
@click.option("--backup", type=FOLDER, metavar="DIR", help="Copy each file there before it is repaired.")
@click.option("--quarantine", type=FOLDER, metavar="DIR", help="Where useless files go; default: quarantine/ by PATH.")
@click.option("--no-quarantine", is_flag=True, help="Leave truncated, corrupt and unsafe files where they are.")
@click.option("--to", type=FOLDER, metavar="DIR", help="Write right copies of all files there instead (/dev/shm/x).")
@click.option("--compact", is_flag=True, help="Also take out what no tensor of a file uses.")
@click.option("--regenerate", type=PathArgument(), metavar="CONFIG", help="Encode damaged samples of its cache again.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key of CONFIG.")
@click.option("--jobs", type=click.IntRange(1), help="Files worked on at once; default: the CPU cores.")
@click.option("--report-dir", type=FOLDER, default=Path("reports"), show_default=True, help="Where the report goes.")
@click.option("--json", "as_json", is_flag=True, help="Print plan and result as one JSON object.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Repairs cache files that carry tags of CUDA (mps, xpu) devices, without torch, CUDA or loading them.

    Shows the plan and asks. Only the description of the tensors is written anew: behind a file's old end, or
    in one copy that is renamed when it is whole. A kill or a full disk at any moment loses nothing. Truncated
    and corrupt files, and pickles that reach the system, are moved to a quarantine folder with a note, never
    deleted; files that name classes of your own are left where they are, and named. So are files that another
    process writes to. Warnings are not touched. --regenerate CONFIG makes what is missing, cut off
    or damaged of that configuration's latent cache again, on the CPU, with the encoder that its manifest names.

    Exit codes: 0 all is clean now, 1 something is left wrong (named), 2 wrong use, or no cache file,
    130 stopped by Ctrl-C (the file at work is finished first).
    """
    if "" in paths:
        raise UsageError("one of the paths is empty: a variable that is not set?", hint="ups-doctor fix-cache FOLDER")
    _refuse_contradictions(paths, options)
    asked = RepairOptions(
        jobs=options["jobs"] or 0,
        compact=options["compact"],
        move_useless=not options["no_quarantine"],
        quarantine=options["quarantine"],
        backup=options["backup"],
        to=options["to"],
    )
    progress = ProgressLine()
    try:
        prepared = prepare([Path(path) for path in paths], asked, progress)
        progress.clear()
        if options["regenerate"]:
            prepared = prepared.with_regeneration(_regeneration(options["regenerate"], options["overrides"]))
        result = _carried_out(prepared, asked, progress, options)
    finally:
        progress.clear()
    code = result.exit_code if result else prepared.exit_code
    if options["as_json"]:
        say(json.dumps(fix_json(prepared, result, code), indent=1))
    context.exit(code)


def _refuse_contradictions(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    if options["yes"] and options["dry_run"]:
        raise UsageError("--yes changes files and --dry-run changes none", hint="choose one of them")
    for other in ("backup", "quarantine"):
        if options["to"] and options[other]:
            raise UsageError(f"--to leaves the originals as they are: there is nothing for --{other} to keep")
    if options["to"] and options["regenerate"]:
        raise UsageError("--to leaves the originals as they are: --regenerate would change them")
    if options["overrides"] and not options["regenerate"]:
        raise UsageError("--set changes keys of the CONFIG that --regenerate names, and none is named")
    if options["quarantine"] and options["no_quarantine"]:
        raise UsageError("--quarantine names a folder and --no-quarantine uses none", hint="choose one of them")
    missing = next((path for path in paths if not os.path.lexists(path) and not glob(path)), None)  # noqa: PTH207 - any folder
    if missing is not None:
        raise UsageError(f"{missing}: no such file or folder", hint=f"check the spelling: ls -l {Path(missing).parent}")
    if not options["yes"] and not options["dry_run"] and not _can_ask():
        raise UsageError(
            "there is no terminal to ask on: --yes repairs without asking, --dry-run only shows what would be done"
        )


def _regeneration(config: Path, overrides: tuple[str, ...]) -> Regeneration:
    # Imported here: they bring the machine and the job along, which no other repair needs.
    from diagnostics.cache.repair.regenerate import ask
    from diagnostics.machine.this import open_machine

    python = interpreter.choose(None, os.environ)
    with open_machine(python) as machine:
        return ask(config, overrides, python=python, child=machine.child)


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _carried_out(
    prepared: Prepared, asked: RepairOptions, progress: ProgressLine, options: dict[str, Any]
) -> RepairResult | None:
    """Shows the plan, asks, and returns what was done; None where nothing was to do or to be done."""
    _say(plan_lines(prepared), options)
    refuse(prepared)
    if options["dry_run"] or not prepared.plan.todo:
        return None
    if not options["yes"] and not ask(f"\n{question(prepared)}"):
        _say(["nothing was changed"], options)
        return None
    result = carry_out(prepared, asked, progress)
    progress.clear()
    _say(["", *result_lines(result), write_report(options["report_dir"], prepared, result)], options)
    return result


def _say(lines: Iterable[str], options: dict[str, Any]) -> None:
    """Prints lines for people; on stderr where stdout belongs to JSON."""
    stream = sys.stderr if options["as_json"] else sys.stdout
    width = shutil.get_terminal_size().columns if stream.isatty() else 0
    say("\n".join(fitted(lines, width)), err=stream is sys.stderr)


class ProgressLine:
    """One live line on stderr; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = self.began = 0.0

    def looked(self, files: int, bad: int) -> None:
        """Redraws a few times a second."""
        self._draw(f"{files:,} files looked at, {bad:,} bad")

    def worked(self, done: int, of: int, written: int) -> None:
        """Redraws with the time that is left, once it can be told."""
        if not done:
            self.began = time.monotonic()
        passed = time.monotonic() - self.began
        left = f", {passed / done * (of - done):.0f} s left" if done and passed > 1 else ""
        self._draw(f"{done:,} of {of:,} files done, {written / 2**20:.1f} MiB written{left}")

    def _draw(self, text: str) -> None:
        if self.shown and time.monotonic() - self.drawn > REDRAW_S:
            self.drawn = time.monotonic()
            redraw(text)

    def clear(self) -> None:
        """Leaves the line empty for what follows."""
        if self.shown and self.drawn:
            redraw("")
            self.drawn = 0.0
