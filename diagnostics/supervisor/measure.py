"""A short watched run that is ended as soon as enough steps were made: for `ups-doctor perf -- CMD`.

One that ended before by itself is diagnosed as any other: why it failed is more than how fast it was.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core import stop_signal
from diagnostics.core.errors import DoctorError
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.diagnosis.with_deadline import Haste, diagnose_in_time
from diagnostics.record.supervisor_facts import MEASURED
from diagnostics.report.run_report import RunReport
from diagnostics.supervisor.capture.run_folder import open_run_folder
from diagnostics.supervisor.event_loop import EventLoop
from diagnostics.supervisor.running_notes import EndWishes
from diagnostics.supervisor.signals import SignalInbox
from diagnostics.supervisor.start import NotStartedError
from diagnostics.supervisor.supervise import complete_record

FAILED = (JobOutcome.CRASH, JobOutcome.HANG)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """Where the record is; with the report about a job that failed before it was measured."""

    folder: Path
    failed: RunReport | None = None


def measured_run(command: Sequence[str], folder: Path | None, enough: EndWishes, *, aside: bool = False) -> MeasuredRun:
    """Runs `command` until its ranks have made enough steps; returns what there is of the run.

    `aside`: what the job writes to its stdout goes to our stderr.

    Raises UsageError where the folder holds something, DoctorError where nothing can be watched or was started,
    KeyboardInterrupt where somebody ended it.
    """
    try:
        place, signals = open_run_folder(folder, kind="perf"), SignalInbox()
    except OSError as error:
        raise DoctorError(
            f"nothing can be watched: {error.strerror or error}", hint="see: df -h . ; ulimit -n"
        ) from error
    watch = EventLoop(
        command, place, signals, stall_timeout_s=1800.0, kill=True, backend_debug=False, deep=False,
        local_values=False, background="services stay", wishes=enough, say=lambda line: None,
    )  # fmt: skip
    with signals, _stdout_aside() if aside else nullcontext():
        try:
            watch.run()
        except NotStartedError as error:
            hint = "check the command: it is started as it stands behind --"
            raise DoctorError(str(error), hint=hint, exit_code=error.exit_code) from error
        complete_record(place, watch)
        ended_by = watch.file.facts().ended_by
        report = _report(place.folder, signals) if ended_by not in (MEASURED, "interrupt") else None
    if ended_by == "interrupt":
        stop_signal.asked(signals.asked or signal.SIGINT)  # it came here and not to the command line
        raise KeyboardInterrupt
    return MeasuredRun(folder=place.folder, failed=report if report and report.outcome in FAILED else None)


def _report(folder: Path, signals: SignalInbox) -> RunReport | None:
    """Returns the report of a run that ended by itself and writes it; None where there is none."""
    with suppress(DoctorError, OSError):  # how fast it was may be told all the same
        return diagnose_in_time(folder, haste=Haste(until_s=signals.until_s, wake=(signals.fd,)))[0]
    return None


@contextmanager
def _stdout_aside() -> Iterator[None]:
    """Within it, what is started writes to our stderr in place of our stdout."""
    sys.stdout.flush()
    own = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(own, 1)
        os.close(own)
