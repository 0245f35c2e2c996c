"""`ups-doctor run -- CMD`: runs any training job as it is, and says on one page why it died or lied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diagnostics.errors import UsageError
from diagnostics.supervise import WatchOptions, watch


class JobCommand(click.Command):
    """Takes everything behind `--`, or from the first word that is no option, as the job's command line."""

    allow_interspersed_args = False


@click.command("run", cls=JobCommand)
@click.argument("job", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARGS]...")
@click.option("--report-dir", type=click.Path(path_type=Path), help="Default: reports/<time>-run/.")
@click.pass_context
def command(context: click.Context, /, job: tuple[str, ...], **options: Any) -> None:
    """Runs CMD unchanged and watches it.

    Writes report.md, report.json and record/ into reports/<time>-run/ or --report-dir DIR. The exit code is the job's
    own, unless it was wrong: 128+N for a crash by signal N, 70 for a crash that the job hid, 124 for a hang.
    """
    if not job:
        raise UsageError(
            "no command to run", hint="for example: ups-doctor run -- torchrun --nproc-per-node 2 train.py"
        )
    context.exit(watch(job, WatchOptions(report_dir=options["report_dir"])))
