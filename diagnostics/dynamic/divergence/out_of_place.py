"""Collectives at which not all ranks can be expected, whatever way they went: finalizers, uneven inputs, empty passes.

Each rank frees its objects in its own time. In torch.distributed.algorithms.join.Join a rank that has run out of inputs
answers what the wrapped module and optimizer exchange, and nothing else: ranks are meant to part there, and a
collective of the program's own in the loop is the fault. A backward pass reduces the gradients that it computes: one
that begins at a tensor without a graph, as a loss of 0 made anew is, computes none, and its rank is a reduction behind
from there on, though it went the same way as all others. Pure.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.run_marks import EmptyPass

_WEAKREF = re.compile(r"/weakref\.py$")
_JOIN = re.compile(r"/torch/distributed/algorithms/join\.py$")
# Where torch itself makes the collectives of a program: what calls `torch.distributed` for a module or an optimizer.
_TORCHS_OWN = re.compile(
    r"/torch/(?:nn|optim|autograd|distributed/(?:algorithms|optim|fsdp|tensor|_composable))/|_tensor\.py$"
)


class WhyOutOfPlace(enum.Enum):
    """Why not all ranks need be there."""

    FINALIZER = "finalizer"
    NOT_SHADOWED = "not shadowed"
    EMPTY_BACKWARD = "empty backward"


@dataclass(frozen=True, slots=True)
class OutOfPlace:
    """A line of the project that makes a collective, why not all ranks join it, and which did not, where known."""

    frame: Frame
    why: WhyOutOfPlace
    ranks: tuple[int, ...] = ()


def out_of_place(job: Job, positions: Sequence[RankState]) -> OutOfPlace | None:
    """Returns the call of these waiting ranks that stands where not all need be; None where there is none."""
    for one in positions:
        if (freed := _finalizer_of(job, one)) is not None:
            return OutOfPlace(freed, WhyOutOfPlace.FINALIZER)
    if any(_has_joined(one) for one in positions):
        for one in positions:
            if (called := _called_by_itself(job, one)) is not None:
                return OutOfPlace(called, WhyOutOfPlace.NOT_SHADOWED)
    return _empty_pass(job, positions)


def _empty_pass(job: Job, positions: Sequence[RankState]) -> OutOfPlace | None:
    """Returns the backward pass in which some ranks, and not all, had nothing to reduce, where one waits in another."""
    if not any(one.wait is not None and one.wait.native for one in positions):
        return None
    passes = {process.rank: process.prints.marks_of(EmptyPass) for process in job.ranks if process.rank is not None}
    least = min(map(len, passes.values()), default=0)
    behind = {rank: marks for rank, marks in passes.items() if len(marks) > least and marks[-1].path}
    if not behind:
        return None
    first = next(iter(behind.values()))[-1]
    return OutOfPlace(first.path[0], WhyOutOfPlace.EMPTY_BACKWARD, tuple(behind))


def _has_joined(one: RankState) -> bool:
    """Whether a rank has run out of inputs and answers for the others in Join's exit."""
    return any(_JOIN.search(frame.file) and frame.function.endswith("__exit__") for frame in one.stack)


def _called_by_itself(job: Job, one: RankState) -> Frame | None:
    """Returns the project's line that made the collective a rank waits in; None where torch made it for a module."""
    process = job.of_rank(one.rank)
    own = user_frames(one.stack, agent_folder=process.agent_folder if process is not None else "")
    if one.wait is None or not own or is_installed(own[0]):
        return None
    above = one.stack[: one.stack.index(own[0])]
    return None if any(_TORCHS_OWN.search(frame.file) for frame in above) or not above else own[0]


def _finalizer_of(job: Job, one: RankState) -> Frame | None:
    """Returns the line of the job's own finalizer (`__del__`, weakref.finalize) in which a rank waits, else None."""
    process = job.of_rank(one.rank)
    at = _called_at(one.stack)
    own = user_frames(one.stack[:at], agent_folder=process.agent_folder if process is not None else "")
    return own[-1] if one.wait is not None and own and not is_installed(own[-1]) else None


def _called_at(stack: Sequence[Frame]) -> int:
    """Returns how many frames of a stack, innermost first, are of a finalizer; at the exit all of them run in order."""
    if any(_WEAKREF.search(frame.file) and frame.function.endswith("_exitfunc") for frame in stack):
        return 0
    for at, frame in enumerate(stack):
        if frame.function.rpartition(".")[2] == "__del__":
            return at + 1
        if _WEAKREF.search(frame.file) and frame.function.endswith("__call__"):
            return at
    return 0
