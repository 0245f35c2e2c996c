"""`ups-doctor diagnose FOLDER`: the verdict from a record, or from logs alone, any time after the job."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from diagnostics.core.console import say
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.shell_quoting import pasteable
from diagnostics.diagnosis.engine import write_report
from diagnostics.diagnosis.with_deadline import examine_in_time
from diagnostics.record.record import make_record_folder
from diagnostics.report.page import json_text, markdown
from diagnostics.report.run_report import RunReport
from diagnostics.report.summary import summary_lines


class LogsCommand(click.Command):
    """Lets `--log` take every file name that follows it, as a shell's `*.log` gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `--log` before each of several names."""
        spread: list[str] = []
        in_logs = False
        for word in args:
            if word.startswith("-") and word != "-":
                in_logs = word == "--log"
                spread += [] if in_logs else [word]
                continue
            spread += ["--log", word] if in_logs else [word]
        return super().parse_args(ctx, spread if "--log" not in args[-1:] else args)


@click.command("diagnose", cls=LogsCommand)
@click.argument("folder", metavar="[FOLDER]", required=False, type=click.Path(path_type=Path))
@click.option("--log", "logs", metavar="FILE...", multiple=True, type=click.Path(path_type=Path),
              help="Logs of a job that ran without the doctor: torchrun, NCCL, DeepSpeed, Slurm, docker.")  # fmt: skip
@click.option("--report-dir", type=click.Path(path_type=Path), help="Write report.md and report.json there.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json.")
@click.option("-v", "--verbose", is_flag=True, help="Print the whole page.")
@click.pass_context
def command(
    context: click.Context, folder: Path | None, logs: tuple[Path, ...], report_dir: Path | None,
    as_json: bool, verbose: bool,
) -> None:  # fmt: skip
    """Says what happened to a job, from the FOLDER that `ups-doctor run` left or from its logs.

    Works after the doctor itself was killed. From FOLDER, report.md and report.json are written into it again; from
    logs only with --report-dir. Exit code: 0 nothing wrong was found, 1 something was, 2 no such folder or file.
    """
    if (folder is None) == (not logs):
        raise UsageError(
            "diagnose needs a FOLDER or --log FILE...", hint="for example: ups-doctor diagnose reports/20260301-run"
        )
    report = examine_in_time(folder, logs)
    place = _write(report, folder, report_dir)
    if as_json:
        say(json_text(report), nl=False)
    elif verbose:
        say(markdown(report), nl=False)
    else:
        colour = sys.stdout.isatty()
        say("\n".join(summary_lines(report, place, colour=colour)), colour=colour)
    context.exit(0 if report.outcome is JobOutcome.OK else 1)


def _write(report: RunReport, folder: Path | None, report_dir: Path | None) -> str:
    """Writes the report and returns where it is, or why there is none."""
    if report_dir is not None:
        make_record_folder(report_dir)
    elif folder is not None:
        report_dir = folder.parent if folder.name == "record" else folder
    else:
        return "no report was written; --report-dir DIR keeps one"
    try:
        write_report(report, report_dir)
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=report_dir)
        return f"no report was written: {refused.message}"
    return f"report: {pasteable(report_dir / 'report.md')}"
