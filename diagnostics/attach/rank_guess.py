"""Ranks that nothing names: processes that a script started itself, told by what stands on their stacks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.process_kinds import is_tracker
from diagnostics.dynamic.job.process_list import MergedProcess
from diagnostics.dynamic.job.stack_classifier import (
    RankActivity,
    classify,
    is_bootstrapped,
    is_data_worker,
    is_spawned,
    joins,
)


def guess_ranks(processes: Sequence[MergedProcess], stacks: Mapping[int, Sequence[Frame]]) -> dict[int, int]:
    """Returns {pid: rank} of what multiprocessing started to train, in the order in which it was started.

    `stacks` holds main threads by pid, innermost frame first. Those of torch.multiprocessing.spawn are ranks; those of
    multiprocessing.Process where one of them is inside torch.distributed and the program above only waits for them.
    """
    by_parent: dict[int, list[MergedProcess]] = {}
    pids = {process.pid: process for process in processes}
    for process in processes:
        frames = stacks.get(process.pid, ())
        started = is_spawned(frames) or is_bootstrapped(frames)
        if started and not is_data_worker(frames) and not is_tracker(process):
            parent = pids.get(process.parent_pid)
            if parent is not None and "RANK" not in parent.variables and "RANK" not in process.variables:
                by_parent.setdefault(parent.pid, []).append(process)
    found: dict[int, int] = {}
    for parent_pid, siblings in by_parent.items():
        peers = [classify(stacks[one.pid]).doing is RankActivity.WAITS for one in siblings]
        spawned = any(is_spawned(stacks[one.pid]) for one in siblings)
        if spawned or (len(siblings) > 1 and any(peers) and joins(stacks.get(parent_pid, ()))):
            ordered = sorted(siblings, key=lambda one: (one.start_ticks, one.pid))
            found.update({one.pid: number for number, one in enumerate(ordered)})
    return found
