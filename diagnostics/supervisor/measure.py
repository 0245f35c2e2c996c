"""A short watched run that is ended as soon as enough steps were made: for `ups-doctor perf -- CMD`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diagnostics.core.errors import DoctorError
from diagnostics.supervisor.capture.run_folder import open_run_folder
from diagnostics.supervisor.event_loop import EventLoop
from diagnostics.supervisor.running_notes import EndWishes
from diagnostics.supervisor.signals import SignalInbox
from diagnostics.supervisor.supervise import complete_record


def measured_run(command: Sequence[str], folder: Path | None, enough: EndWishes) -> tuple[Path, int]:
    """Runs `command` until its ranks have made enough steps; returns the run's folder and the exit code of the job.

    Raises UsageError where the folder holds something, DoctorError where nothing can be watched or was started.
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
    with signals:
        code = watch.run()
        complete_record(place, watch)
    return place.folder, code
