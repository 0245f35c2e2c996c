"""`ups-doctor triage PATH...`: what became of runs that are over, from what they left behind."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import click

from diagnostics.argument_types import PathArgument
from diagnostics.core.console import say, width_of
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.triage.engine import triage
from diagnostics.triage.page import html, markdown
from diagnostics.triage.run import DIED
from diagnostics.triage.table import as_json, lines


@click.command("triage")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PathArgument("any"))
@click.option("--json", "to_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--markdown", "to_markdown", is_flag=True, help="Print one page of Markdown.")
@click.option("--html", "html_file", metavar="FILE", type=PathArgument(), help="Write a page there, too.")
@click.pass_context
def command(
    context: click.Context, paths: tuple[Path, ...], to_json: bool, to_markdown: bool, html_file: Path | None
) -> None:
    """Makes one table of the runs below each PATH: what became of each, why, and what those that died have in common.

    Reads folders of W&B, TensorBoard, MLflow, metrics.jsonl, Lightning's CSV, records of the doctor, runs of ups, and
    logs of torchrun, Slurm (sacct, too) and machines. Nothing is changed. Exit code: 0 all is well, 1 a run died,
    2 no run was found.
    """
    if not paths:
        raise UsageError("triage needs a PATH", hint="for example: ups-doctor triage wandb/ slurm-*.out")
    if to_json and to_markdown:
        raise click.UsageError("--json and --markdown do not go together", context)
    found = triage(paths)
    if html_file is not None:
        _write(html_file, html(found))
    if to_json:
        say(json.dumps(as_json(found), indent=1))
    elif to_markdown:
        say(markdown(found), nl=False)
    else:
        say("\n".join(lines(found, width=width_of())))
    context.exit(1 if any(row.judgement.fate in DIED for row in found.rows) else 0)


def _write(path: Path, text: str) -> None:
    """Writes a page, in a folder that is made where it is missing. Raises UsageError."""
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        # What a folder was to be made in the place of is a file.
        known = NotADirectoryError(errno.ENOTDIR, error.strerror) if isinstance(error, FileExistsError) else error
        refused = from_os_error(known, action="cannot write", path=path)
        raise UsageError(refused.message, hint=refused.hint) from error
