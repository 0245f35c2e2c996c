"""A short watched run that is ended as soon as enough steps were made: for `ups-doctor perf -- CMD`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from diagnostics.core.errors import DoctorError
from diagnostics.supervisor.capture.run_folder import open_run_folder
from diagnostics.supervisor.event_loop import EventLoop
from diagnostics.supervisor.running_notes import EndWishes
from diagnostics.supervisor.signals import SignalInbox
from diagnostics.supervisor.start import NotStartedError
from diagnostics.supervisor.supervise import complete_record


def measured_run(command: Sequence[str], folder: Path | None, enough: EndWishes, *, aside: bool = False) -> Path:
    """Runs `command` until its ranks have made enough steps; returns the run's folder.

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
    if watch.file.facts().ended_by == "interrupt":
        raise KeyboardInterrupt
    return place.folder


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
