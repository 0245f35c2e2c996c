"""What is wrong with a job that runs on: it looks well and is not, is slow, or has lost a rank and does not end.

Signatures are asked that can tell so early: WHILE_RUNNING = True says that what one finds in the record of now will not
be taken back by more of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics import diagnosis
from diagnostics.core import redaction
from diagnostics.core.findings import Role
from diagnostics.core.frames import user_frames
from diagnostics.core.registry import discover
from diagnostics.diagnosis.engine import job_from_record
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.attribution import lost_its_peer
from diagnostics.dynamic.job.evidence import how_it_ended, names_of
from diagnostics.dynamic.steps.view import suspects
from diagnostics.record.record import RunRecord

MOST_WORDS = 200  # characters of what an exception says


@dataclass(frozen=True, slots=True, kw_only=True)
class SoFar:
    """What these signatures find, and the processes (pid -> start ticks) that make the job slow for reasons unknown."""

    matches: tuple[Match, ...]
    suspects: Mapping[int, int]


def failure_so_far(record: Path, pid: int) -> str:
    """Returns "rank 1 ended with exit code 1 at train.py:9: KeyError: 7" of a process that failed by itself, else "".

    Nothing is said of a rank that only lost its peer, or of one that somebody else ended. Raises DoctorError where the
    record is none.
    """
    job = job_from_record(RunRecord.load(record), ended=False)
    process = job.of_pid(pid)
    if process is None or process.rank is None or not process.failed or process.ended_by:
        return ""
    raised, fault = process.uncaught, process.fault
    if (raised is None and process.end.signal is None) or lost_its_peer(process, job.output):
        return ""
    native = next((one.frames for one in fault.threads if one.crashed), ()) if fault is not None else ()
    path = raised.user_path if raised is not None else user_frames(native, agent_folder=process.agent_folder)
    at = f" at {job.line(path[0])}" if path else ""
    words = textwrap.shorten(redaction.text(raised.text), MOST_WORDS, placeholder=" ...") if raised is not None else ""
    return f"{names_of([process])} {how_it_ended(process)}{at}{f': {redaction.line(words)}' if words else ''}"


def wrong_so_far(record: Path) -> SoFar:
    """Returns what is known by now from the record of a job that runs. Raises DoctorError where it is none."""
    job = job_from_record(RunRecord.load(record), ended=False)
    asked = (module for module in discover(diagnosis, broken=[]).values() if getattr(module, "WHILE_RUNNING", False))
    said: tuple[Match | None, ...] = tuple(module.match(job) for module in asked)
    matches = tuple(match for match in said if match is not None and match.finding.role is Role.ROOT)
    return SoFar(matches=matches, suspects={one.pid: one.start_ticks for one in suspects(job)})
