"""`ups-doctor perf [RUN] | -- CMD`: why N ranks are not N times as fast, and the three changes that would give most."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from diagnostics.argument_types import PathArgument
from diagnostics.core.console import say, wants_colour, width_of
from diagnostics.core.errors import FAILED_EXIT, UsageError, from_os_error
from diagnostics.core.files import write_whole
from diagnostics.core.shell_quoting import pasteable_here
from diagnostics.perf.answer import PerfAnswer
from diagnostics.perf.command_line import with_one_rank
from diagnostics.perf.engine import answer_of, newest_run
from diagnostics.perf.page import json_text, markdown, terminal_lines
from diagnostics.perf.pictures import draw
from diagnostics.report.headline import headline
from diagnostics.report.html_page import place_line
from diagnostics.report.run_report import RunReport
from diagnostics.report.summary import summary_lines
from diagnostics.supervisor.capture.run_folder import REPORTS
from diagnostics.supervisor.measure import measured_run
from diagnostics.supervisor.running_notes import EndWishes

LEAST_STEPS = 10


class RunOrCommand(click.Command):
    """Takes what stands behind `--` as the job's command line, and one word before it as the run's folder."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the job's words aside."""
        ctx.meta["job"] = ()
        if "--" in args:
            at = args.index("--")
            ctx.meta["job"], args = tuple(args[at + 1 :]), args[:at]
            ctx.meta["asked"] = True
        return super().parse_args(ctx, args)


@click.command("perf", cls=RunOrCommand)
@click.argument("run", required=False, metavar="[RUN | -- CMD [ARGS]...]", type=PathArgument("folder"))
@click.option("--steps", type=click.IntRange(LEAST_STEPS), default=200, show_default=True,
              help="End CMD after so many optimizer steps.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(1.0), default=300.0, show_default=True,
              help="End CMD after so long, at the latest.")  # fmt: skip
@click.option("--baseline", is_flag=True, help="Run CMD with one rank, too, for the efficiency against it.")
@click.option("--report-dir", type=PathArgument(), metavar="DIR", help="Default: the run's own folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_context
def command(
    context: click.Context,
    /,
    run: Path | None,
    report_dir: Path | None,
    *,
    as_json: bool,
    baseline: bool,
    **bounds: Any,
) -> None:
    """Says why N ranks are not N times as fast: from RUN, the folder of a watched run (default: the newest), or CMD.

    With -- CMD a short watched run is made and ended. The split of the steps by rank, who is waited for, what limits
    them and what to change go to the terminal, into perf.md and perf.json, with pictures beside them. Exit code: 0
    answered, 2 wrong use, 3 too little to tell: fewer than 10 steady steps; that of `run` where CMD crashed or hung.
    """
    job = context.meta["job"]
    if context.meta.get("asked") and not job:
        raise UsageError(
            "no command behind --", hint="for example: ups-doctor perf -- torchrun --nproc-per-node 2 train.py"
        )
    if job and run is not None:
        raise UsageError("perf takes a RUN or -- CMD, not both")
    if baseline and not job:
        raise UsageError("--baseline needs -- CMD: a run that is over cannot be repeated with one rank")
    enough = EndWishes(steps=bounds["steps"], seconds=bounds["seconds"])
    notes: list[str] = []
    folder, alone = run or Path(), None
    if job:
        made = measured_run(job, report_dir, enough, aside=as_json)
        if made.failed is not None:
            context.exit(_tell_failure(made.failed, made.folder))
        folder = made.folder
        alone = _alone(job, folder, enough, notes, aside=as_json) if baseline else None
    elif run is None:
        folder = newest_run(REPORTS)
    answer = answer_of(folder, alone, notes)
    place = _write(answer, report_dir or (folder.parent if folder.name == "record" else folder))
    if as_json:
        say(json_text(answer), nl=False)
    else:
        say("\n".join(terminal_lines(answer, place, width=width_of())))


def _alone(job: tuple[str, ...], folder: Path, enough: EndWishes, notes: list[str], *, aside: bool) -> Path | None:
    """Runs the command with one rank; returns the folder of that run, None where there is no such command."""
    one = with_one_rank(job)
    if one is None:
        notes.append("no run with one rank: how many ranks it starts cannot be told from its launch line")
        return None
    say(f"ups-doctor: with one rank: {' '.join(one)}", err=True)
    made = measured_run(one, folder / "one-rank", enough, aside=aside)
    if made.failed is not None:
        page = pasteable_here(made.folder / "report.md")
        notes.append(f"the run with one rank tells nothing. {headline(made.failed)} See {page}")
        return None
    return made.folder


def _tell_failure(report: RunReport, folder: Path) -> int:
    """Says why a job failed before it was measured; returns the exit code that `run` would have given."""
    where = place_line(pasteable_here(folder / "report.md"), "")
    width = width_of(sys.stderr)
    for line in summary_lines(report, where, colour=wants_colour(sys.stderr), width=width):
        say(line, err=True, colour=True)
    return report.exit_code or FAILED_EXIT


def _write(answer: PerfAnswer, folder: Path) -> str:
    """Writes page, JSON and pictures; returns where they are, or why they are not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures, missing = draw(answer, folder)
        write_whole(folder / "perf.json", json_text(answer))
        write_whole(folder / "perf.md", markdown(answer, pictures))
    except OSError as error:
        return f"no report was written: {from_os_error(error, action='cannot write', path=folder).message}"
    return f"report: {pasteable_here(folder / 'perf.md')}" + (f"; {missing}" if missing else "")
