"""`ups-doctor stacks PID`: where every process of a running job stands, as one tree."""

from __future__ import annotations

import json
import shutil

import click

from diagnostics.argument_types import ProcessArgument
from diagnostics.attach.find import UNDECIDED, find_job
from diagnostics.attach.look import LookOptions, take_snapshots
from diagnostics.attach.stack_tree_text import lines_of
from diagnostics.attach.view import as_json, screen_of, world_size_of
from diagnostics.core import redaction
from diagnostics.core.console import say, wants_colour
from diagnostics.core.errors import DoctorError
from diagnostics.core.progress_line import LiveLine

NOTHING_IS_CUT = 1_000_000  # columns of what is no terminal


@click.command("stacks")
@click.argument("pid", type=ProcessArgument())
@click.option("--seconds", type=click.FloatRange(0.0), default=1.0, show_default=True, metavar="S",
              help="Time between the two looks that tell what moves from what stands.")  # fmt: skip
@click.option("--native", is_flag=True, help="C++ frames, too; slow: stops each process for up to a second.")
@click.option("--locals", "local_values", is_flag=True, help="Local values of the job's own frames, secrets hidden.")
@click.option("--json", "as_json_", is_flag=True, help="Print everything as JSON, all threads too.")
@click.option("-v", "--verbose", is_flag=True, help="Fold no library frames; the launcher's stack, too.")
@click.pass_context
def command(
    context: click.Context, pid: int, seconds: float, native: bool, local_values: bool, as_json_: bool, verbose: bool
) -> None:
    """Shows where all processes of a running job stand, merged into one tree; the job goes on.

    PID is any process of the job: its launcher, a rank, a data worker, a shell above. Nothing is sent to it or stopped
    in it, but with --native. Exit code: 0 shown, 2 no such process or no Python in it, 3 nothing could be read.
    """
    job = find_job(pid)
    options = LookOptions(seconds=seconds, native=native, local_values=local_values)
    with LiveLine() as live:
        looked = take_snapshots(job, options, live.show)
    if len(looked.ended) == len(looked.standings):
        raise DoctorError(f"the job of pid {pid} ended while it was looked at", exit_code=UNDECIDED)
    if as_json_:
        say(json.dumps(as_json(looked), indent=1))
    else:
        screen = screen_of(looked, width=screen_width(), colour=wants_colour(), verbose=verbose)
        looks = max((one.moved.looks for one in looked.standings), default=0)
        body = lines_of(looked.standings, screen, seconds=looked.seconds, looks=looks, world_size=world_size_of(looked))
        say("\n".join(body), colour=screen.colour)
        for gap in looked.missing:
            say(redaction.line(f"not seen: {gap.what}: {gap.why}"), err=True)
    unread = all(one.moved.state == "" and not one.frames for one in looked.standings)
    context.exit(UNDECIDED if unread else 0)


def screen_width() -> int:
    """Returns the columns of the terminal, or of COLUMNS; a pipe and a file have as many as a line needs."""
    return max(40, shutil.get_terminal_size((NOTHING_IS_CUT, 24)).columns)
