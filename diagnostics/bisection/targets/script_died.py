"""A script that dies before a model of it is given a batch: no module is at fault, and the watched run says what is."""

from __future__ import annotations

import signal
import tempfile
import time
from pathlib import Path

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.files import shown_path
from diagnostics.bisection.report.run_report import run_report_of
from diagnostics.bisection.targets.script_capture import ScriptDiedError
from diagnostics.bisection.targets.watched import watched_command
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.report.run_report import RunReport

STALL_S = 60.0
MOST_RUNS = 3  # until it dies once more: what workers do comes and goes
WHY = "it ends before a model is given a batch"


def explained(died: ScriptDiedError, folder: Path, *, command: str) -> tuple[Bisection, RunReport]:
    """Runs the script again, under watch and no further than to its first batch; returns what that says.

    Raises `died` where it does not fail in so many runs. Raises OSError where the folder cannot be made.
    """
    started = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    began = time.monotonic()
    for runs in range(1, MOST_RUNS + 1):
        place = folder / ("failing-run" if runs == 1 else f"failing-run-{runs}")
        seen = _watched(died, place)
        if seen is not None:
            break
    else:
        raise died
    found = Bisection(
        name=died.script,
        attempts=(),
        failure=_failure(died, seen),
        failed=2,
        runs=1 + runs,
        outside=WHY,
        evidence=(f"the watched run: {seen.failure_class}: {seen.root_cause}",),
        folder=shown_path(folder),
        seconds=time.monotonic() - began,
    )
    return found, run_report_of(found, seen, command=command, started=started)


def _watched(died: ScriptDiedError, folder: Path) -> RunReport | None:
    """Returns what one run under watch says, None where it did not die before its first batch."""
    with tempfile.TemporaryDirectory(prefix="ups-doctor-capture-") as captured:
        env = {**died.run.env, "UPS_DOCTOR_CAPTURE": captured}  # its run ends where a model is given a batch
        seen = watched_command(died.run.argv, folder, env=env, stall_s=STALL_S)
        came_further = any(Path(captured).glob("*/call/capture.json"))
    return None if seen is None or seen.outcome is JobOutcome.OK or came_further else seen


def _failure(died: ScriptDiedError, seen: RunReport) -> Failure:
    places = tuple(filter(None, [seen.location]))
    if died.signal:
        detail = signal.Signals(died.signal).name
        return Failure(kind=FailureKind.SIGNAL, detail=detail, places=places, ranks=seen.culprit_ranks)
    return Failure(kind=FailureKind.EXIT, detail=f"exit code {died.code}", places=places, ranks=seen.culprit_ranks)
