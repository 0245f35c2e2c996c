"""Threads of one process that make collectives in one group: which comes first is left to chance on each rank. Pure."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock
from diagnostics.dynamic.job.job import Job


def by_thread_order(job: Job, deadlock: Deadlock) -> bool:
    """Whether all ranks wait in the same calls of several threads, which took the places of a group in other orders."""
    waits = [waits_of_threads(job, one, first=0) for one in deadlock.positions]
    calls = [{(wait.op, wait.group, site.file, site.line) for wait, site in each} for each in waits]
    orders = {tuple(wait.slot for wait, _ in each) for each in waits}
    return not deadlock.gone and len(calls[0]) > 1 and len(orders) > 1 and all(one == calls[0] for one in calls)


def waits_of_threads(job: Job, one: RankState, first: int = 1) -> tuple[tuple[PendingOperation, Frame], ...]:
    """Returns the collectives in which threads of a rank wait in the group of its main thread's, and their lines.

    Without those before `first`: the main thread's is number 0.
    """
    main, process = one.wait, job.of_rank(one.rank)
    if main is None or main.kind is not OperationKind.COLLECTIVE or process is None:
        return ()
    alike = [wait for wait in one.waits[first:] if wait.kind is main.kind and wait.group == main.group]
    sites = [user_frames(wait.path, agent_folder=process.agent_folder)[:1] for wait in alike]
    return tuple((wait, site[0]) for wait, site in zip(alike, sites, strict=True) if site)
