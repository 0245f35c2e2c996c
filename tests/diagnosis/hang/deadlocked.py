"""Ranks with calls of torch.distributed, put together by hand: what an agent's ring would hold of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made as made

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall, GroupProgress
from diagnostics.record.supervisor_facts import ProvedHang

WORLD = (0, 1)
PROVED = ProvedHang(began_s=2.0, proved_s=4.5, ranks=WORLD)


def call(op: str, number: int, *places: str, left_s: float | None = None, **fields: Any) -> CollectiveCall:
    """Returns a call entered `number` tenths of a second after the start; one that is still going on unless left."""
    known = {
        "sequence": number, "group": "0", "shape": "8", "dtype": "float32", "root": None, "entered_s": number / 10,
        "path": made.frames(*places),
    }  # fmt: skip
    return CollectiveCall(op=op, number=number, left_s=left_s, **{**known, **fields})


def done(op: str, number: int, *places: str, **fields: Any) -> CollectiveCall:
    """Returns a call that has come to its end."""
    return call(op, number, *places, left_s=number / 10 + 0.05, **fields)


def rank(
    number: int, *calls: CollectiveCall, hashed: int = 1, checkpoints: tuple[tuple[int, int], ...] = (), **fields: Any
) -> JobProcess:
    """Returns a rank that made these calls in the group of both ranks, its main thread where no other is named."""
    pid = 100 + number
    known = {"rank": number, "signal": 15, "ended_by": "doctor", "at_s": 5.0}
    own = [replace(one, thread=one.thread or pid) for one in calls]
    made_calls = max((one.number for one in calls), default=-1) + 1
    progress = GroupProgress(group="0", ranks=WORLD, calls=made_calls, rolling_hash=hashed, checkpoints=checkpoints)
    agent = made.agent(pid=pid, collectives=tuple(own), groups=(progress,))
    return made.a_process(pid, **{**known, "agent": agent, **fields})


def hung(folder: Path, *processes: JobProcess, source: str) -> Job:
    """Returns the job that stood still from 2.0 s on and was ended for it; `source` is its train.py."""
    job = {"ended_by": "deadlock", "proved": (PROVED,), "ended_s": 5.0}
    return made.a_job(*processes, cwd=folder, files={"train.py": source}, culprits=(), facts=job)
