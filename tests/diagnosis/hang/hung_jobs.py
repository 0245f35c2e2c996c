"""Cases of jobs that the doctor ended while they stood still, put together by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hand_made as made

from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.record.supervisor_facts import Stall

STDLIB = "/usr/lib/python3.11"
TORCH = "/venv/lib/python3.11/site-packages/torch"
STALL = Stall(began_s=5.0, seen_s=20.0)


def stack(*places: str) -> tuple[Any, ...]:
    """Returns frames of "file:line:function"."""
    words = [place.split(":") for place in places]
    return tuple(made.frame(f"{file}:{line}", function) for file, line, function in words)


def living(
    pid: int, rank: int | None, *stacks: Any, events: tuple[LifecycleEvent, ...] = (), **fields: Any
) -> JobProcess:
    """Returns a process that the doctor ended."""
    known = {
        "agent": made.agent(*events, pid=pid, **fields.pop("of_agent", {})),
        "stacks": stacks,
        "ended_by": "doctor",
    }
    return made.a_process(pid, rank=rank, signal=15, **{**known, **fields})


def hung(*processes: JobProcess, tmp_path: Path, files: dict[str, str] | None = None, **fields: Any) -> Job:
    job = {"ended_by": "stall-timeout", "stalls": (STALL,), "exit_code": None, "signal": 15, **fields.pop("job", {})}
    return made.a_job(*processes, cwd=tmp_path, files=files, facts=job, culprits=(), **fields)


def say(one: Match | None) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
    assert one is not None
    return one.failure_class, one.culprit_ranks, one.locations
