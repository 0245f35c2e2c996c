"""Runs a job under the agent, follows it to its end, ends what it left, and has the record diagnosed.

The job is not harmed by what fails here: each capture that fails becomes a Missing in job.json.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diagnostics import redact
from diagnostics.analysis.job_facts import Missing
from diagnostics.capture import keep_text
from diagnostics.diagnose import diagnose
from diagnostics.errors import DoctorError
from diagnostics.job_signals import JobSignals
from diagnostics.job_start import NotStartedError
from diagnostics.job_watch import JobWatch
from diagnostics.run_folder import RunFolder, open_run_folder
from diagnostics.run_summary import summary_lines
from diagnostics.say import say

BROKEN_EXIT = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What the user asked for."""

    report_dir: Path | None = None
    stall_timeout_s: float = 1800.0
    kill: bool = True  # end a job that stands still for `stall_timeout_s`
    strict: bool = False
    backend_debug: bool = False
    deep: bool = False
    local_values: bool = False
    quiet: bool = False


def watch(command: Sequence[str], options: WatchOptions) -> int:
    """Runs `command`, writes its report and returns the doctor's exit code.

    Raises UsageError where --report-dir holds something, OSError where no folder can be made at all.
    """
    place = open_run_folder(options.report_dir)
    if place.problem and not options.quiet:
        _say(f"ups-doctor: {place.problem}; the report goes to {place.folder}")
    with JobSignals() as signals:
        watch = JobWatch(
            command,
            place,
            signals,
            stall_timeout_s=options.stall_timeout_s,
            kill=options.kill,
            backend_debug=options.backend_debug,
            deep=options.deep,
            local_values=options.local_values,
            say=_say,
        )
        try:
            code = watch.run()
        except NotStartedError as error:
            code = error.exit_code
            _say(f"ups-doctor: {error}")
        _complete(place, watch)
        code = _report(place, options, code, watch)
        signals.take()  # a late Ctrl-C: the job has ended, and the report is there
    return code


def _complete(place: RunFolder, watch: JobWatch) -> None:
    try:
        kept = place.bring_agents_home()
        if kept:
            watch.file.missing.append(Missing(what="agents' files in the record", why=kept))
        watch.keep_sources()
    except Exception:  # a fault of ours is never the job's
        watch.file.missing.append(
            Missing(what="the end of the record", why=redact.text(traceback.format_exc(limit=-2)))
        )


def _report(place: RunFolder, options: WatchOptions, job_code: int, watch: JobWatch) -> int:
    shown = _shown(place.folder)
    try:
        report = diagnose(place.folder, strict=options.strict)
    except (DoctorError, OSError) as error:
        _say(f"ups-doctor: no report: {error}; the record is in {shown}/record")
        return job_code
    except Exception:  # a fault of ours is never the job's
        keep_text(place.folder / "doctor-error.txt", redact.text(traceback.format_exc()))
        _say(f"ups-doctor: the diagnosis failed, see {shown}/doctor-error.txt; the record is in {shown}/record")
        return job_code
    if not options.quiet:
        note = f" ({watch.file.problem})" if watch.file.problem else ""
        for line in summary_lines(report, f"report: {shown}/report.md{note}", colour=_has_colour(), width=_width()):
            _say(line)
    return report.exit_code


def run_preflight(command: Sequence[str], reports: Path) -> int:
    """Runs `ups-doctor preflight --script COMMAND` and returns its exit code."""
    own = [sys.executable, "-c", "from diagnostics.cli import main; main()", "preflight"]
    process = subprocess.Popen([*own, "--report-dir", str(reports), "--script", *command])
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise


def _shown(folder: Path) -> str:
    with suppress(ValueError, OSError):
        return str(folder.relative_to(Path.cwd()))
    return str(folder)


def _say(line: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads our stderr
        say(line, err=True, colour=True)


def _has_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width() -> int:
    with suppress(OSError, ValueError):
        return max(60, os.get_terminal_size(2).columns)
    return 120
