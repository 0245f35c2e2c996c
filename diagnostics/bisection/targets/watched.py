"""The failing case once as a watched job: the doctor's own diagnosis of it, as of any training that died."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.core.errors import DoctorError
from diagnostics.core.own_folders import CHILDREN
from diagnostics.diagnosis.with_deadline import examine_in_time
from diagnostics.report.run_report import RunReport

LONGEST_SHARE = 4  # of the stall's time: three times it before the first step, and the diagnosis
DIAGNOSIS_S = 60.0


def watched(case: Configuration, folder: Path, *, python: str, stall_s: float) -> RunReport | None:
    """Runs the case in programs of its own, under watch, in a new `folder`; returns what the doctor says of it.

    None where the watch itself came to nothing. Raises OSError where the folder cannot be made.
    """
    if folder.is_dir():  # of the run that is gone on with
        return _seen(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    request = folder.with_name(f"{folder.name}.json")
    body = {**case.as_json(), "result": str(folder.with_name(f"{folder.name}-{{rank}}.json"))}
    request.write_text(json.dumps(body), encoding="utf-8")
    launcher = [python, "-I", "-S", str(CHILDREN / "launch_ranks.py"), str(case.settings.world)]
    command = [*launcher, python, str(CHILDREN / "trial_rank.py"), str(request)]
    try:
        _run(command, folder, dict(case.settings.env), stall_s)
    finally:
        request.unlink(missing_ok=True)
        for rank in range(case.settings.world):
            folder.with_name(f"{folder.name}-{rank}.json").unlink(missing_ok=True)
    return _seen(folder)


def watched_command(
    command: Sequence[str], folder: Path, *, env: Mapping[str, str], stall_s: float
) -> RunReport | None:
    """Runs a command under watch, in a new `folder`; returns what the doctor says of it, None where it says nothing."""
    _run(command, folder, env, stall_s)
    return _seen(folder)


def _seen(folder: Path) -> RunReport | None:
    try:
        return examine_in_time(folder)
    except DoctorError:  # the watch was ended before it had a record
        return None


def _run(command: Sequence[str], folder: Path, env: Mapping[str, str], stall_s: float) -> None:
    # -P: the user's folder may hold a package of our name.
    watch = [sys.executable, "-P", "-c", "from diagnostics.cli import main; main()", "run", "--quiet", "--deep"]
    watch += [
        "--end-background",
        "--report-dir",
        str(folder),
        "--stall-timeout",
        f"{max(1.0, stall_s):.0f}",
        "--",
        *command,
    ]
    null = subprocess.DEVNULL  # what the ranks print is kept in the record
    process = subprocess.Popen(
        watch, env={**os.environ, **env}, stdin=null, stdout=null, stderr=null, start_new_session=True
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LONGEST_SHARE * stall_s + DIAGNOSIS_S)
    finally:
        if process.poll() is None:
            process.terminate()  # it ends the ranks, and writes down what it knows
            process.wait()
