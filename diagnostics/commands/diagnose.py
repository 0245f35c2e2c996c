"""`ups-doctor diagnose FOLDER`: the verdict from a record, or from logs alone, any time after the job."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import click

from diagnostics.argument_types import PathArgument
from diagnostics.cluster import cluster_page
from diagnostics.cluster.host_report import is_shared, read_hosts
from diagnostics.cluster.merge import merged
from diagnostics.cluster.one_record import JoinedRecord
from diagnostics.core.console import say, wants_colour
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.files import write_whole
from diagnostics.core.shell_quoting import pasteable
from diagnostics.diagnosis.engine import write_report
from diagnostics.diagnosis.with_deadline import examine_in_time, examine_record_in_time
from diagnostics.record.record import make_private_folder, make_record_folder
from diagnostics.report.html_page import place_line
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
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=PathArgument("any"))
@click.option("--log", "logs", metavar="FILE...", multiple=True, type=PathArgument(),
              help="Logs of a job that ran without the doctor: torchrun, NCCL, DeepSpeed, Slurm, docker.")  # fmt: skip
@click.option("--report-dir", type=PathArgument(), help="Write report.md and report.json there.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json.")
@click.option("-v", "--verbose", is_flag=True, help="Print the whole page.")
@click.pass_context
def command(
    context: click.Context, folders: tuple[Path, ...], logs: tuple[Path, ...], report_dir: Path | None,
    as_json: bool, verbose: bool,
) -> None:  # fmt: skip
    """Says what happened to a job, from the FOLDER that `ups-doctor run` left or from its logs.

    Works after the doctor itself was killed. From FOLDER, report.md and report.json are written into it again; from
    logs only with --report-dir. Several FOLDERs, or the one that hosts shared with `run --share`, give one page over
    all hosts. Exit code: 0 nothing wrong was found, 1 something was, 2 no such folder or file.
    """
    for one in folders:
        if not one.is_dir():
            told = f"{one} is a file, a folder was expected"
            raise UsageError(told, hint=f"of a log: ups-doctor diagnose --log {pasteable(one)}")
    folder = folders[0] if folders else None
    if folders and not logs and (len(folders) > 1 or is_shared(folders[0])):
        context.exit(_over_hosts(folders, report_dir, as_json=as_json, verbose=verbose))
    if (folder is None) == (not logs):
        raise UsageError(
            "diagnose needs a FOLDER or --log FILE...", hint="for example: ups-doctor diagnose reports/20260301-run"
        )
    if logs and not any(map(_says_anything, logs)):
        what = "the log is empty, and says" if len(logs) == 1 else f"all {len(logs)} logs are empty, and say"
        raise UsageError(f"{what} nothing of any job: {pasteable(logs[0])}")
    report = examine_in_time(folder, logs)
    place, kept = _write(report, folder, report_dir)
    if as_json:
        say(json_text(report), nl=False)
    elif verbose:
        say(markdown(report), nl=False)
    else:
        colour, width = wants_colour(), shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        say("\n".join(summary_lines(report, place, colour=colour, width=width)), colour=colour)
    context.exit(0 if report.outcome is JobOutcome.OK and kept else 1)


def _says_anything(log: Path) -> bool:
    if not log.is_file():
        return True  # a pipe would keep us waiting; it is refused where it is read
    try:
        with log.open("rb") as file:
            return any(line.strip() for line in file)
    except OSError:
        return True  # why it cannot be read is said where it is read


def _over_hosts(folders: tuple[Path, ...], report_dir: Path | None, *, as_json: bool, verbose: bool) -> int:
    """Prints one page about a run over several hosts and returns the exit code."""
    found = merged(read_hosts(folders), _of_all_hosts)
    if report_dir is not None:
        make_record_folder(report_dir)
        write_whole(report_dir / "report.md", cluster_page.markdown(found))
        write_whole(report_dir / "report.json", json.dumps(cluster_page.json_value(found), indent=1))
    if as_json:
        say(json.dumps(cluster_page.json_value(found), indent=1))
    else:
        say(cluster_page.markdown(found) if verbose else "\n".join(cluster_page.summary(found)), nl=not verbose)
    return 0 if found.outcome == "ok" and not found.silent else 1


def _of_all_hosts(record: JoinedRecord) -> str:
    return json_text(examine_record_in_time(record))


def _write(report: RunReport, folder: Path | None, report_dir: Path | None) -> tuple[str, bool]:
    """Writes the report; returns where it is, or why there is none, and False where a folder asked for lacks it."""
    asked = report_dir is not None
    try:
        if report_dir is not None:
            make_private_folder(report_dir)
        elif folder is not None:
            report_dir = folder.parent if folder.name == "record" else folder
        else:
            return "no report was written; --report-dir DIR keeps one", True
        no_page = write_report(report, report_dir)
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=report_dir)
        return f"no report was written: {refused.message}", not asked
    return place_line(pasteable(report_dir / "report.md"), no_page), True
