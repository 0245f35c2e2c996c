"""What the control groups of a job's processes allowed them, from captures/memory.json. Pure.

Which lines of a job seem to keep memory, for signatures about memory that ran out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.torch_code.retained_objects import kept_objects

LARGE_SHARE = 0.1  # of all memory: an allocation of this size needs no leak to fail


def memory_limit(job: Job, process: JobProcess) -> int | None:
    """Returns the bytes that a process could have: its group's limit, else the machine's memory; None if unknown."""
    own = [group for group in _groups(job) if process.pid in (group.get("pids") or ())]
    limits = [limit for group in own if isinstance(limit := group.get("limit_bytes"), int) and limit > 0]
    if limits and job.facts.memory_bytes:
        return min(*limits, job.facts.memory_bytes)
    return min(limits, default=None) or job.facts.memory_bytes


def _groups(job: Job) -> Iterator[Mapping[str, Any]]:
    try:
        told = untrusted_json.loads(job.extra.get("memory.json", "") or "{}")
    except ValueError:
        return
    groups = told.get("groups") if isinstance(told, dict) else None
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, dict) and isinstance(group.get("pids", []), list):
            yield group


def suspected_leaks(job: Job, process: JobProcess, near: Sequence[Frame] = ()) -> tuple[Frame, ...]:
    """Returns the lines that keep what each iteration made, those in the files of the path `near` first."""
    close = {frame.file for frame in near}
    found = [
        (not kept.graph, name not in close, Frame(file=name, line=kept.line, function=kept.what))
        for name, file in job_sources(job, process)
        for kept in kept_objects(file)
    ]
    return tuple(frame for *_, frame in sorted(found, key=lambda one: one[:2]))


def is_small_request(asked: float | None, total: float | None) -> bool:
    """Whether a failed allocation was so small that something else must have filled the memory."""
    return asked is not None and bool(total) and asked < LARGE_SHARE * float(total or 0)
