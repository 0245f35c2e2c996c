"""The stacks of all processes of a job as one tree: what they share once, then who went where. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.job.stack_classifier import RankActivity, StackClass, is_library
from diagnostics.dynamic.stall.motion import ActivityDelta, ActivityLevel

_PLUMBING = re.compile(r"/torch/distributed/c10d_logger\.py$|/torch/nn/modules/module\.py$|/contextlib\.py$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStack:
    """One process as it was last seen. `frames` of its main thread, innermost first."""

    pid: int
    parent_pid: int
    part: ProcessRole
    rank: int | None
    owner: int | None  # pid of the rank that started it, None for ranks and launchers
    argv: tuple[str, ...]
    frames: tuple[Frame, ...]
    place: StackClass
    moved: ActivityDelta
    problem: str = ""  # why there is no stack; "" where there is one, or where no Python runs
    values: tuple[str, ...] = ()  # local values, one text for each of `frames`


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixNode:
    """Frames that `who` share, outermost first, and where they part. Those who end here are in no child."""

    frames: tuple[Frame, ...]
    who: tuple[ProcessStack, ...]
    children: tuple[PrefixNode, ...]


def prefix_tree(standings: Iterable[ProcessStack]) -> tuple[PrefixNode, ...]:
    """Returns the branches, those with the lowest ranks first; a process without a stack is in none."""
    paths = [(_path(one), one) for one in standings if one.frames]
    return _branches([pair for pair in paths if pair[0]])


def groups(standings: Iterable[ProcessStack]) -> list[tuple[ProcessStack, ...]]:
    """Returns those that stand at the same place and do the same, lowest ranks first."""
    found: dict[object, list[ProcessStack]] = {}
    for one in standings:
        found.setdefault((_path(one), one.moved.motion, one.part, one.problem), []).append(one)
    return [tuple(group) for group in found.values()]


def ranges(numbers: Sequence[int]) -> str:
    """Returns "0-2,5"."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def names(who: Sequence[ProcessStack]) -> str:
    """Returns "ranks 0-2,5", "pid 4711" or "data worker of rank 1"."""
    ranks = [one.rank for one in who if one.part is ProcessRole.RANK and one.rank is not None]
    if len(ranks) == len(who):
        return f"rank{'s' if len(set(ranks)) > 1 else ''} {ranges(ranks)}"
    pids = ranges([one.pid for one in who]) if len(who) <= 4 else f"{len(who)} processes"
    return f"pid{'s' if len(who) > 1 else ''} {pids}" if len(who) <= 4 else pids


def missing_ranks(standings: Iterable[ProcessStack], world_size: int | None) -> tuple[int, ...]:
    """Returns the ranks that should be there and are not on this machine."""
    there = {one.rank for one in standings if one.part is ProcessRole.RANK}
    return tuple(rank for rank in range(world_size or 0) if rank not in there)


def _path(one: ProcessStack) -> tuple[Frame, ...]:
    """Returns what of its stack is shown, outermost first: of one that moves no library frame below the job's own.

    Where in a library a moving process was last is of no interest, and would part each from all others.
    """
    frames = tuple(frame for frame in one.frames if not _PLUMBING.search(frame.file)) or one.frames
    if one.moved.motion in (ActivityLevel.MOVES, ActivityLevel.BUSY) and one.place.doing is not RankActivity.WAITS:
        own = [number for number, frame in enumerate(frames) if not is_library(frame)]
        frames = frames[own[0] :] if own else frames
    return tuple(reversed(frames))


def _branches(paths: Sequence[tuple[tuple[Frame, ...], ProcessStack]]) -> tuple[PrefixNode, ...]:
    by_first: dict[Frame, list[tuple[tuple[Frame, ...], ProcessStack]]] = {}
    for path, one in paths:
        if path:
            by_first.setdefault(path[0], []).append((path, one))
    return tuple(_branch(members) for members in by_first.values())


def _branch(members: Sequence[tuple[tuple[Frame, ...], ProcessStack]]) -> PrefixNode:
    shared = 0
    shortest = min(len(path) for path, _ in members)
    while shared < shortest and len({path[shared] for path, _ in members}) == 1:
        shared += 1
    return PrefixNode(
        frames=members[0][0][:shared],
        who=tuple(one for _, one in members),
        children=_branches([(path[shared:], one) for path, one in members]),
    )
