"""`ups-doctor attach PID`: a verdict about a job that runs without the doctor, as far as a look from outside goes."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path

import click

from diagnostics.argument_types import PathArgument, ProcessArgument
from diagnostics.attach.engine import Attached
from diagnostics.attach.engine import attach as look_into
from diagnostics.attach.stack_tree_text import who_lines
from diagnostics.attach.view import screen_of, world_size_of
from diagnostics.core.console import say, wants_colour
from diagnostics.core.progress_line import LiveLine
from diagnostics.core.shell_quoting import pasteable_here
from diagnostics.report.html_page import place_line
from diagnostics.report.page import json_text
from diagnostics.report.summary import summary_lines

LABEL = "  where  "
MOST_GAPS = 4


@click.command("attach")
@click.argument("pid", type=ProcessArgument())
@click.option("--seconds", type=click.FloatRange(1.0, 3600.0), default=5.0, show_default=True, metavar="S",
              help="How long to look.")  # fmt: skip
@click.option("--report-dir", type=PathArgument(), metavar="DIR", help="Default: reports/<time>-attach/.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json.")
@click.pass_context
def command(context: click.Context, pid: int, seconds: float, report_dir: Path | None, as_json: bool) -> None:
    """Looks into a running job and says whether it stands still, on whom it waits, and where; the job goes on.

    PID is any process of the job: its launcher, a rank, a data worker, a shell above. Nothing is sent to it, stopped
    in it or written into its folder. Writes report.md, report.json and record/ into reports/<time>-attach/ or DIR.

    Exit code: 0 it goes on, 1 it stands still or something else is wrong, 2 no such process or no Python in it, 3 that
    cannot be told.
    """
    with LiveLine() as live:
        attached = look_into(pid, seconds=seconds, report_dir=report_dir, show=live.show)
    if as_json:
        say(json_text(attached.report), nl=False)
    else:
        say("\n".join(_lines(attached)), colour=wants_colour())
    context.exit(attached.report.exit_code)


def _lines(attached: Attached) -> list[str]:
    looked = attached.looked
    width = max(40, shutil.get_terminal_size((120, 24)).columns)
    reasons = "; ".join(filter(None, (attached.problem, attached.no_page)))
    place = place_line(pasteable_here(attached.folder / "report.md"), reasons)
    said = summary_lines(attached.report, place, colour=wants_colour(), width=width if sys.stdout.isatty() else 0)
    screen = screen_of(looked, width=width - len(LABEL) + 2, colour=wants_colour())
    where = [line[2:] for line in who_lines(looked.standings, screen, world_size=world_size_of(looked))]
    shown = [f"{LABEL if number == 0 else ' ' * len(LABEL)}{line}" for number, line in enumerate(where)]
    for gap in looked.missing[:MOST_GAPS]:
        shown += textwrap.wrap(
            f"{gap.what}: {gap.why}", width, initial_indent="  unseen ", subsequent_indent=" " * len(LABEL)
        )
    return [*said[:-1], *shown, said[-1]]
