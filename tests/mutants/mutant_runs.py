"""A mutant, and a healthy program, run bare and under the tool."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zoo_runs
from zoo_seconds import to_report_s, writings

DOCTOR = (str(zoo_runs.DOCTOR), "run", "--stall-timeout", "40", "--report-dir", "{report}", "--")
# A tool may take so long after the program's own time: a stall that nothing proves, looks at it, its end.
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a command left. `exit_code` is None where it had to be ended."""

    exit_code: int | None
    output: str
    stdout: str
    seconds: float
    report: Mapping[str, Any] = field(default_factory=dict)
    to_report_s: float | None = None


def run(
    folder: Path, command: Sequence[str], env: Mapping[str, str], python: Path, limit_s: float,
    tool: Sequence[str] = (), keep: Path | None = None, apart: bool = False,
) -> Run:  # fmt: skip
    """Runs a command in a copy of its folder, under the tool's words where some are given.

    `{report}` among them is a folder for its report.json; what it wrote is copied to `keep` where that is given.
    With `apart`, standard output is kept by itself and not among `output`.
    """
    above = Path(tempfile.mkdtemp(prefix="job-"))
    try:
        work = above / "job"
        shutil.copytree(folder, work)
        reports = above / "report"
        argv = [*(word.format(report=reports) for word in tool), *command]
        stdout = above / "stdout"
        shown = ["bash", "-c", f"{shlex.join(argv)} > {stdout}"] if apart else argv
        with writings(reports / "report.json") as written_ns:
            code, output, seconds = zoo_runs.run_command(shown, work, zoo_runs.variables(env, str(python)), limit_s)
        report, _ = zoo_runs.read_report(reports) if tool else ({}, ())
        took_s = to_report_s(zoo_runs.read_job(reports), written_ns)
        if keep is not None:
            _keep(keep, folder, reports, output, command)
        return Run(
            exit_code=code, output=output, stdout=stdout.read_text(errors="replace") if stdout.is_file() else "",
            seconds=seconds, report=report, to_report_s=took_s,
        )  # fmt: skip
    finally:
        shutil.rmtree(above, ignore_errors=True)


def _keep(keep: Path, folder: Path, reports: Path, output: str, command: Sequence[str]) -> None:
    shutil.rmtree(keep, ignore_errors=True)
    keep.mkdir(parents=True)
    (keep / "output.txt").write_text(output)
    (keep / "command.txt").write_text(shlex.join(command) + "\n")
    shutil.copytree(folder, keep / "program")
    if reports.is_dir():
        shutil.copytree(reports, keep / "report", ignore_dangling_symlinks=True, ignore=zoo_runs.pipes)


def same_output(bare: str, watched: str) -> bool:
    """Whether two runs of one program wrote the same lines, whatever their order, their numbers and their folders."""
    return _lines(bare) == _lines(watched)


def _lines(text: str) -> set[str]:
    return {
        re.sub(r"\d[\d.,:e+-]*", "N", re.sub(r"\bjob-\w+", "job", line)).strip() for line in re.split(r"[\r\n]+", text)
    } - {""}
