"""What the control groups of a job's processes allowed them, from captures/memory.json. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.dynamic.job.job import Case, ProcessStory


def memory_limit(case: Case, story: ProcessStory) -> int | None:
    """Returns the bytes that a process could have: its group's limit, else the machine's memory; None if unknown."""
    own = [group for group in _groups(case) if story.pid in (group.get("pids") or ())]
    limits = [limit for group in own if isinstance(limit := group.get("limit_bytes"), int) and limit > 0]
    if limits and case.job.memory_bytes:
        return min(*limits, case.job.memory_bytes)
    return min(limits, default=None) or case.job.memory_bytes


def _groups(case: Case) -> Iterator[Mapping[str, Any]]:
    try:
        told = untrusted_json.loads(case.extra.get("memory.json", "") or "{}")
    except ValueError:
        return
    groups = told.get("groups") if isinstance(told, dict) else None
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, dict) and isinstance(group.get("pids", []), list):
            yield group
