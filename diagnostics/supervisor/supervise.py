"""Runs a job under the agent, follows it to its end, ends what it left, and has the record diagnosed.

The job is not harmed by what fails here: each capture that fails becomes a Missing in job.json.
"""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diagnostics.cluster.share import HostShare
from diagnostics.core import redaction
from diagnostics.core.console import say, wants_colour, width_of
from diagnostics.core.errors import DoctorError
from diagnostics.core.shell_quoting import pasteable, pasteable_here
from diagnostics.core.wording import fitted
from diagnostics.diagnosis.short_report import write_short_report
from diagnostics.diagnosis.with_deadline import Haste, diagnose_in_time
from diagnostics.record.supervisor_facts import Missing
from diagnostics.report.html_page import place_line
from diagnostics.report.run_report import RunReport
from diagnostics.report.summary import summary_lines
from diagnostics.supervisor.background_services import Wish
from diagnostics.supervisor.capture.run_folder import RunFolder, open_run_folder
from diagnostics.supervisor.capture.snapshot import keep_text
from diagnostics.supervisor.event_loop import EventLoop
from diagnostics.supervisor.running_notes import EndWishes
from diagnostics.supervisor.signals import SignalInbox
from diagnostics.supervisor.start import NotStartedError
from diagnostics.supervisor.unwatched import lacks, run_unwatched, too_few_files


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What the user asked for."""

    report_dir: Path | None = None
    share: Path | None = None  # a folder that all hosts of the job see
    stall_timeout_s: float = 1800.0
    kill: bool = True  # end a job that stands still for `stall_timeout_s`
    strict: bool = False
    abort_on: tuple[str, ...] = ()  # outcomes for which a job is ended as soon as they are sure
    backend_debug: bool = False
    deep: bool = False
    local_values: bool = False
    background: Wish = "services stay"  # what happens to what CMD leaves behind
    quiet: bool = False


def watch(command: Sequence[str], options: WatchOptions) -> int:
    """Runs `command`, writes its report and returns the doctor's exit code.

    Raises UsageError where --report-dir holds something. Where nothing can be watched, it becomes the job.
    """
    why = too_few_files()
    if why:
        return run_unwatched(command, why, quiet=options.quiet)
    try:
        place, signals = open_run_folder(options.report_dir), SignalInbox()
        watch = _open_watch(command, place, signals, options)
    except OSError as error:  # no folder, no descriptor, no memory: the job has its own
        return run_unwatched(command, f"{error.strerror or error}", quiet=options.quiet)
    if place.problem and not options.quiet:
        _say(f"ups-doctor: {place.problem}; the report goes to {pasteable(place.folder)}")
    shared = _arrived(command, options)
    lacking = ""
    with signals:
        try:
            code = watch.run()
        except NotStartedError as error:
            code, lacking = error.exit_code, str(error) if lacks(error.__cause__) else ""
            if not lacking:
                _say(f"ups-doctor: {error}")
        if not lacking:
            complete_record(place, watch)
            code = _report(place, options, code, watch, signals)
            _bring(shared, place)
        if signals.until_s() is not None:  # what was cut short leaves no halves
            for part in place.record.rglob(".*.part"):
                part.unlink(missing_ok=True)
    return run_unwatched(command, lacking, quiet=options.quiet) if lacking else code


def _arrived(command: Sequence[str], options: WatchOptions) -> HostShare | None:
    """Leaves this host's name in the shared folder; None where there is none, or nothing can be left."""
    if options.share is None:
        return None
    shared = HostShare(options.share, tuple(redaction.argv(command)))
    try:
        shared.arrive()
    except OSError as error:
        _say(f"ups-doctor: nothing is shared in {pasteable(options.share)}: {error.strerror or error}")
        return None
    return shared


def _bring(shared: HostShare | None, place: RunFolder) -> None:
    """Copies report and record into the shared folder; a problem is said, and changes nothing else."""
    if shared is not None and (problem := shared.bring(place.folder)):
        _say(f"ups-doctor: the report was not shared in {pasteable(shared.folder)}: {problem}")


def _open_watch(command: Sequence[str], place: RunFolder, signals: SignalInbox, options: WatchOptions) -> EventLoop:
    return EventLoop(
        command,
        place,
        signals,
        stall_timeout_s=options.stall_timeout_s,
        kill=options.kill,
        backend_debug=options.backend_debug,
        deep=options.deep,
        local_values=options.local_values,
        background=options.background,
        wishes=EndWishes(outcomes=options.abort_on),
        say=_tell if not options.quiet else _keep_to_ourselves,
    )


def complete_record(place: RunFolder, watch: EventLoop) -> None:
    """Brings what the agents wrote and the sources into the record of a run that is over."""
    try:
        for name, why in place.replaced().items():
            watch.file.missing.append(Missing(what=f"record/{name}", why=why))
        kept = place.bring_agents_home()
        if kept:
            watch.file.missing.append(Missing(what="agents' files in the record", why=kept))
        watch.keep_sources()
    except Exception:  # a fault of ours is never the job's
        watch.file.missing.append(
            Missing(what="the end of the record", why=redaction.text(traceback.format_exc(limit=-2)))
        )


def _report(place: RunFolder, options: WatchOptions, job_code: int, watch: EventLoop, signals: SignalInbox) -> int:
    record, page = pasteable_here(place.record), pasteable_here(place.folder / "report.md")
    try:
        haste = Haste(until_s=signals.until_s, wake=(signals.fd,))
        earlier = watch.captures.answers
        report, no_page = diagnose_in_time(place.folder, strict=options.strict, haste=haste, earlier=earlier)
    except (DoctorError, OSError) as error:
        code, short = write_short_report(place.folder, job_code, str(error), _say, named=pasteable_here(place.folder))
        if short is not None:
            _summarise(short, place_line(page, watch.file.problem), options)
        elif (place.folder / "report.md").exists():
            _say(f"ups-doctor: no last report: {error}; the provisional one stands: {page}")
        else:
            _say(f"ups-doctor: no report: {error}; the record is in {record}")
        return code
    except Exception:  # a fault of ours is never the job's
        keep_text(place.folder / "doctor-error.txt", redaction.text(traceback.format_exc()))
        fault = pasteable_here(place.folder / "doctor-error.txt")
        _say(f"ups-doctor: the diagnosis failed, see {fault}; the record is in {record}")
        return job_code
    _summarise(report, place_line(page, "; ".join(filter(None, (watch.file.problem, no_page)))), options)
    return report.exit_code


def _summarise(report: RunReport, where: str, options: WatchOptions) -> None:
    if options.quiet:
        return
    for line in summary_lines(report, where, colour=wants_colour(sys.stderr), width=width_of(sys.stderr)):
        _say(line)


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


def _say(line: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads our stderr
        say(line, err=True, colour=True)


def _tell(text: str) -> None:
    """Says what is seen while the job runs, in lines of the terminal."""
    for line in fitted(text, width_of(sys.stderr)):
        _say(line)


def _keep_to_ourselves(line: str) -> None:
    """--quiet: it is in the report."""
