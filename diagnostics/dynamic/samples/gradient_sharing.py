"""Which ranks train one model together, so that each must read samples of its own. Pure.

Told by the groups of the wrappers, or by gradients that the job reduces itself. Ranks that also hold parts of one
model, or hand each other what they computed inside of it, may read the same samples by design: of them nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

from diagnostics.agent.shared import operations
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.agent_file import ranks_of

BY_HAND = "by hand"
LEAST_REDUCTIONS, LEAST_EXCHANGES = 3, 3
_INSIDE = ("forward", "backward")  # the last part of a function's name


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientGroup:
    """Ranks that add up their gradients. `how` is "ddp", "fsdp", "fully_shard" or "by hand"."""

    how: str
    ranks: frozenset[int]
    mesh: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # shape and ranks, where it has several dimensions


def gradient_groups(process: JobProcess) -> tuple[GradientGroup, ...]:
    """Returns the groups in which this rank shares gradients, those of wrappers where there are some."""
    found = [_group(_words(text)) for text in _texts(process, "gradient-group")]
    wrapped = tuple(dict.fromkeys(one for one in found if len(one.ranks) > 1))
    return wrapped or tuple(_reduced_by_hand(process))


def sharing_pairs(job: Job) -> Iterator[tuple[JobProcess, JobProcess, GradientGroup]]:
    """Yields each two ranks that train one model together and hold no parts of one copy of it."""
    yield from ((one, other, group) for one, other, group, parts in gradient_pairs(job) if not parts)


def gradient_pairs(job: Job) -> Iterator[tuple[JobProcess, JobProcess, GradientGroup, bool]]:
    """Yields each two ranks that add up their gradients, and whether they may hold parts of one copy of the model."""
    groups = {process.rank: gradient_groups(process) for process in job.ranks}
    for one, other in combinations(job.ranks, 2):
        both = {one.rank, other.rank}
        shared = next((group for group in groups[one.rank] if both <= group.ranks), None)
        if shared is None or shared not in groups[other.rank]:
            continue
        known = {*groups[one.rank], *groups[other.rank]}
        yield one, other, shared, any(_may_hold_parts(process, both, known) for process in (one, other))


def _group(words: dict[str, str]) -> GradientGroup:
    return GradientGroup(how=words.get("how", ""), ranks=frozenset(ranks_of(words.get("ranks", ""))), mesh=_mesh(words))


def _mesh(words: dict[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes = words.get("shape", "").split("x")
    shape = tuple(int(size) for size in sizes) if all(size.isdecimal() and len(size) < 8 for size in sizes) else ()
    ranks = ranks_of(words.get("of", ""))
    return (shape, ranks) if len(shape) > 1 and prod(shape) == len(ranks) else ((), ())


def _may_hold_parts(process: JobProcess, both: set[int | None], known: set[GradientGroup]) -> bool:
    """Whether two ranks are neighbours in a mesh along more than the data, or exchange what is inside of the model."""
    if any(both <= set(ranks_of(_words(text).get("ranks", ""))) for text in _texts(process, "model-parallel")):
        return True
    sets = {group.ranks for group in known}
    meshes = {group.mesh for group in known}
    for text in _texts(process, "device-mesh"):
        mesh = _mesh(_words(text))
        if mesh in meshes or not both <= set(mesh[1]):
            continue
        lines = set(_slices(*mesh))
        if not lines & sets or any(both <= line and line not in sets for line in lines):
            return True  # gradients are shared along more than one line of it, or these two stand in another one
    found = [call.op in operations.HAND_OVER for call in _calls(process) if _exchanges(process, call, both, known)]
    return not all(found) or len(found) >= LEAST_EXCHANGES  # a configuration is sent around once


def _slices(shape: tuple[int, ...], ranks: tuple[int, ...]) -> Iterator[frozenset[int]]:
    """Yields the ranks along each line of a mesh."""
    for axis, size in enumerate(shape):
        step = prod(shape[axis + 1 :])
        for start in range(len(ranks)):
            if not start // step % size:
                yield frozenset(ranks[start + number * step] for number in range(size))


def _exchanges(process: JobProcess, call: CollectiveCall, both: set[int | None], known: set[GradientGroup]) -> bool:
    members = _members(process, call.group)
    if not both <= members:
        return False
    if call.op in operations.HAND_OVER:
        return True
    inside = any(frame.function.rpartition(".")[2] in _INSIDE for frame in call.path)
    sharded = any(group.how in ("fsdp", "fully_shard") and group.ranks == members for group in known)
    return inside and not (sharded and call.op in operations.OF_WRAPPERS)


def _reduced_by_hand(process: JobProcess) -> Iterator[GradientGroup]:
    """Yields the groups over which this rank reduces tensors of the shapes that its optimizer trains."""
    shapes: set[str] = set()
    for text in _texts(process, "trained-shapes"):
        words = _words(text)
        shapes |= {words.get("parameters", ""), *words.get("shapes", "").split(",")}
    shapes -= {"", "scalar", "1", "0"}
    counts: dict[str, int] = {}
    for call in _calls(process):
        if call.op in operations.REDUCING and call.shape in shapes:
            counts[call.group] = counts.get(call.group, 0) + 1
    for group, count in counts.items():
        ranks = _members(process, group)
        if count >= min(LEAST_REDUCTIONS, max(1, process.steps)) and process.steps > 1 and len(ranks) > 1:
            yield GradientGroup(how=BY_HAND, ranks=frozenset(ranks))


def _members(process: JobProcess, name: str) -> frozenset[int]:
    groups = process.agent.groups if process.agent is not None else ()
    return next((frozenset(group.ranks) for group in groups if group.group == name), frozenset())


def _calls(process: JobProcess) -> tuple[CollectiveCall, ...]:
    return process.agent.collectives if process.agent is not None else ()


def _texts(process: JobProcess, kind: str) -> list[str]:
    return [event.text for event in process.agent.events if event.kind == kind] if process.agent is not None else []


def _words(text: str) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in text.split())
