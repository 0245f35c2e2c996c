"""What is wrong with a job that runs on and looks well, or makes it slow: asks those signatures that can tell so early.

Such a signature has WHILE_RUNNING = True: what it says of the record of now will not be taken back by more of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics import diagnosis
from diagnostics.core.findings import Role
from diagnostics.core.registry import discover
from diagnostics.diagnosis.engine import job_from_record
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.steps.view import suspects
from diagnostics.record.record import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SoFar:
    """What these signatures find, and the processes (pid -> start ticks) that make the job slow for reasons unknown."""

    matches: tuple[Match, ...]
    suspects: Mapping[int, int]


def wrong_so_far(record: Path) -> SoFar:
    """Returns what is known by now from the record of a job that runs. Raises DoctorError where it is none."""
    job = job_from_record(RunRecord.load(record), ended=False)
    asked = (module for module in discover(diagnosis, broken=[]).values() if getattr(module, "WHILE_RUNNING", False))
    said: tuple[Match | None, ...] = tuple(module.match(job) for module in asked)
    matches = tuple(match for match in said if match is not None and match.finding.role is Role.ROOT)
    return SoFar(matches=matches, suspects={one.pid: one.start_ticks for one in suspects(job)})
