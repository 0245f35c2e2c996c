"""A forked process waits for a thread that exists only in its parent.

What it does: finds data workers and other forked children of which the kernel shows every thread in a wait of its own
memory, without a timeout: a lock that a thread of the parent held while it forked, or the threads of OpenMP, MKL, grpc
and the like, which a fork does not copy. Names the line where the child stands, the line of the parent's thread that
has the lock, and the line that started the child.

Why it matters: the rank waits for its worker for ever, and the others for the rank.

Fix: start workers by "forkserver" or "spawn", or fork before there are threads; or take no lock of the parent's.
"""

from __future__ import annotations

import dataclasses

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import path_evidence, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.process_queries import events_of, own_lines
from diagnostics.dynamic.stall.fork_locks import ForkedLock, left_locks, others_taking, thread_made
from diagnostics.dynamic.stall.wait_cause import WaitKind
from diagnostics.dynamic.stall.wait_chain import wait_chain

CODE = "D360"
NAME = "fork-leaves-lock"
CLASS = "fork-deadlock"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the ranks whose forked children can never go on, None where there are none."""
    if not stood_still(job):
        return None
    found = [one for one in left_locks(job) if _rank_of(job, one) is not None and _is_awaited(job, one)]
    if not found:
        return None
    first = max(found, key=lambda one: (one.sure, bool(one.holder), bool(one.stands)))
    ranks = sorted({rank for one in found if (rank := _rank_of(job, one)) is not None})
    stands = [job.line(frame) for frame in first.stands[:1]]
    match = blamed(
        job,
        [one.child for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(job, first, ranks),
        evidence=(
            Evidence(
                source=f"record/captures/proc-{first.child.pid}.json: threads",
                observed="every thread waits in a futex of its own memory, without a timeout",
                expected="a thread of the same process that will wake it",
            ),
            *path_evidence(job, f"stack of process {first.child.pid}", first.child.stacks[0]),
            *(path_evidence(job, f"stack in its parent {first.child.parent_pid}", first.holder)),
        ),
        fix=Fix(
            text=_fix(first),
            commands=('DataLoader(..., multiprocessing_context="forkserver")',) if _is_worker(first) else (),
        ),
        locations=distinct([  # the child is the victim of who held the lock
            *(job.line(frame) for frame in first.holder[:1]), *stands,
            *(job.line(frame) for frame in first.holder[1:2]), *_started(job, first),
            *_thread_made(job, first), *others_taking(job, first), *(job.line(one) for one in first.stands[1:2]),
        ]),
        confidence=Confidence.CONFIRMED if first.sure else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[case_rank.pid for rank in ranks if (case_rank := job.of_rank(rank)) is not None],
        began_s=min(one.child.began_s for one in found),
    )  # fmt: skip
    others = tuple(process.rank for process in job.ranks if process.rank is not None and process.rank not in ranks)
    return dataclasses.replace(match, culprit_ranks=tuple(ranks), victim_ranks=others)


def _title(job: Job, one: ForkedLock, ranks: list[int]) -> str:
    who = f"A data worker of {shown_ranks(ranks)}" if _is_worker(one) else f"A forked child of {shown_ranks(ranks)}"
    at = f" at {job.line(one.stands[0])}" if one.stands else ""
    by = f", which a thread of its parent held at {job.line(one.holder[0])} when it forked" if one.holder else ""
    if one.lock:
        return f"{sentence(who)} (process {one.child.pid}) waits for {one.lock}{at}{by or _NOBODY}"
    if one.in_python:
        return f"{sentence(who)} (process {one.child.pid}) waits{at} as for a thread that only its parent has"
    return (
        f"{sentence(who)} (process {one.child.pid}) waits{at} inside native code for threads (OpenMP, MKL and the "
        "like) that only its parent has: a fork does not copy them"
    )


_NOBODY = ", and no thread of its own can release it, as where a thread of its parent held it when that forked"


def _fix(one: ForkedLock) -> str:
    if _is_worker(one):
        return (
            'give the DataLoader multiprocessing_context="forkserver" (or "spawn"), or make its first iterator before '
            "the thread starts; or make the lock in the worker"
        )
    return 'start the child by multiprocessing.get_context("forkserver") or "spawn", or before any thread'


def _is_worker(one: ForkedLock) -> bool:
    return one.child.part is ProcessRole.DATA_WORKER


def _rank_of(job: Job, one: ForkedLock) -> int | None:
    """Returns the rank that the child is, or the nearest one above it."""
    process: JobProcess | None = one.child
    for _ in range(len(job.processes)):
        if process is None or process.rank is not None:
            break
        process = job.of_pid(process.parent_pid) if process.parent_pid != process.pid else None
    return process.rank if process is not None else None


def _is_awaited(job: Job, one: ForkedLock) -> bool:
    """Whether its rank waits for it: a helper that sleeps until it is told to end is nobody's hang."""
    rank = job.of_rank(_rank_of(job, one) or 0)
    if rank is None or rank.pid == one.child.pid:
        return True
    reason = wait_chain(job, rank)
    return one.child.pid in reason.pids or (_is_worker(one) and reason.kind is WaitKind.DATA_WORKER)


def _started(job: Job, one: ForkedLock) -> list[str]:
    """Returns the line that made the DataLoader, or started the child."""
    if one.parent is None:
        return []
    loaders = events_of(one.parent, "dataloader") if _is_worker(one) else []
    children = [event for event in events_of(one.parent, "child") if words(event.text).get("pid") == str(one.child.pid)]
    paths = [event.path for event in (*loaders[-1:], *children)]
    return [line for path in paths for line in own_lines(job, one.parent, path)[:1]]


def _thread_made(job: Job, one: ForkedLock) -> list[str]:
    """Returns the line that made the parent's thread: by the function it runs, else that of the last one started."""
    found = list(thread_made(job, one))
    if found or one.parent is None:
        return found
    paths = [event.path for event in events_of(one.parent, "thread")]
    return [line for path in paths[-1:] for line in own_lines(job, one.parent, path)[:1]]
