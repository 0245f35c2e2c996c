"""One program of the zoo, run without the doctor and under it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoo_seconds import to_report_s, writings
from zoo_truth import Truth

DOCTOR = Path(sys.executable).with_name("ups-doctor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """What the program and its launcher say by themselves."""

    exit_code: int | None  # None: it had to be ended
    blamed_rank: int | None  # torchrun's "Root Cause"
    line_in_summary: bool  # an acceptable line in torchrun's last words
    line_in_output: bool  # anywhere
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What the doctor made of it. `report` is empty where it wrote none."""

    exit_code: int | None
    report: Mapping[str, Any]
    seconds: float
    to_report_s: float | None  # from the first failure, or from when the hang began, to the first report after it
    output: str
    proved: bool = False  # the doctor ended it for a deadlock that it proved
    kept: Path | None = None  # the report's folder
    trouble: tuple[str, ...] = field(default=())


def pipes(folder: str, names: list[str]) -> set[str]:
    """Returns those of `names` that are named pipes: agents of processes that were killed left them."""
    return {name for name in names if Path(folder, name).is_fifo()}


@contextlib.contextmanager
def copied(truth: Truth, python: str = sys.executable) -> Iterator[Path]:
    """Yields a fresh copy of the program, set up; removed afterwards. Raises RuntimeError where the setup fails."""
    above = Path(tempfile.mkdtemp(prefix="job-"))
    # An ordinary user must be able to reach it: some programs leave root behind.
    above.chmod(0o755)
    try:
        folder = above / truth.name
        shutil.copytree(truth.folder, folder, symlinks=True, ignore=shutil.ignore_patterns("truth.json", "__pycache__"))
        if truth.setup:
            done = subprocess.run(
                truth.setup,
                cwd=folder,
                env=environment(truth, python),
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(f"{truth.name}: the setup failed\n{done.stdout}{done.stderr}")
        yield folder
    finally:
        shutil.rmtree(above, ignore_errors=True)


def environment(truth: Truth, python: str = sys.executable) -> dict[str, str]:
    """Returns the variables a program is started with."""
    return variables(truth.env, python)


def variables(env: Mapping[str, str], python: str) -> dict[str, str]:
    """Returns our variables with a program's own; the commands of its Python come first, then ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UPS_DOCTOR", "PYTEST"))}
    folders = dict.fromkeys(str(Path(one).parent) for one in (python, sys.executable))
    path = ":".join([*folders, kept.get("PATH", "/usr/bin:/bin")])
    return {**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **env}


def run_bare(truth: Truth, python: str = sys.executable) -> Bare:
    """Runs the program as it is."""
    with copied(truth, python) as folder:
        code, output, seconds = run_command(truth.command, folder, environment(truth, python), truth.timeout_s)
    summary = output[output.rfind("Root Cause") :] if "Root Cause" in output else ""
    blamed = re.search(r"rank\s*:\s*(\d+)", summary)
    return Bare(
        exit_code=code,
        blamed_rank=int(blamed[1]) if blamed else None,
        line_in_summary=names_line(summary, truth.lines),
        line_in_output=names_line(output, truth.lines),
        seconds=seconds,
    )


def run_watched(truth: Truth, keep: Path | None = None, python: str = sys.executable) -> Watched:
    """Runs the program under `ups-doctor run`; all that the doctor left is copied to `keep` where that is given."""
    with copied(truth, python) as folder, tempfile.TemporaryDirectory(prefix="reports-") as above:
        reports = Path(above) / "report"
        patience = [] if truth.stall_timeout_s is None else ["--stall-timeout", str(truth.stall_timeout_s)]
        argv = [str(DOCTOR), "run", "--report-dir", str(reports), *patience, "--", *truth.command]
        with writings(reports / "report.json") as written_ns:
            # Beyond what the doctor may take to end a stalled job.
            code, output, seconds = run_command(argv, folder, environment(truth, python), truth.timeout_s + 60)
        report, trouble = read_report(reports)
        job = read_job(reports)
        took_s = to_report_s(job, written_ns)
        kept = None
        if keep is not None:
            kept = keep
            shutil.rmtree(kept, ignore_errors=True)
            kept.mkdir(parents=True)
            (kept / "output.txt").write_text(output)
            if reports.is_dir():
                shutil.copytree(reports, kept / "report", ignore_dangling_symlinks=True, ignore=pipes)
    return Watched(
        exit_code=code, report=report, seconds=seconds, to_report_s=took_s, output=output,
        proved=job.get("ended_by") == "deadlock", kept=kept, trouble=trouble,
    )  # fmt: skip


def names_line(text: str, lines: Sequence[str]) -> bool:
    """Whether a text names one of the lines, as `file:7` or as a traceback does."""
    for line in lines:
        file, _, number = line.rpartition(":")
        shown = rf'{re.escape(file)}(:{number}\b|", line {number}\b|: line {number}\b)'
        if re.search(shown, text):
            return True
    return False


def run_command(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], limit_s: float
) -> tuple[int | None, str, float]:
    """Returns exit code as a shell would say it, all output, seconds; none of its processes is left behind."""
    began_s = time.monotonic()
    mark = f"ZOO_RUN={uuid.uuid4()}"
    name, value = mark.split("=")
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv, cwd=cwd, env={**env, name: value}, stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - began_s
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _kill_marked(mark)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if code is not None and code < 0:
        code = 128 - code
    return code, text, seconds


def _kill_marked(mark: str) -> None:
    """Kills what was started with this variable: torchrun gives each rank a session of its own."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGKILL)


def read_report(folder: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        return json.loads((folder / "report.json").read_text()), ()
    except (OSError, ValueError) as error:
        return {}, (f"no report.json: {error}",)


def read_job(folder: Path) -> dict[str, Any]:
    try:
        job: dict[str, Any] = json.loads((folder / "record" / "job.json").read_text())
    except (OSError, ValueError):
        return {}
    return job
