"""What is wrong with a job that runs on and looks well: asks those signatures that can tell so early.

Such a signature has WHILE_RUNNING = True: what it says of the record of now will not be taken back by more of it.
"""

from __future__ import annotations

from pathlib import Path

from diagnostics import diagnosis
from diagnostics.core.findings import Role
from diagnostics.core.registry import discover
from diagnostics.diagnosis.engine import job_from_record
from diagnostics.diagnosis.signature import Match
from diagnostics.record.record import RunRecord


def wrong_so_far(record: Path) -> tuple[Match, ...]:
    """Returns what these signatures find in the record of a job that runs. Raises DoctorError where it is none."""
    job = job_from_record(RunRecord.load(record), ended=False)
    asked = (module for module in discover(diagnosis, broken=[]).values() if getattr(module, "WHILE_RUNNING", False))
    said: tuple[Match | None, ...] = tuple(module.match(job) for module in asked)
    return tuple(match for match in said if match is not None and match.finding.role is Role.ROOT)
