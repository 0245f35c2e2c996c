"""What one torch pickle says, ready for a FileScan: tensors by key, devices, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from diagnostics.cache.file_scan import (
    EXAMPLES,
    MAX_FACTS,
    Problem,
    Tally,
    TensorFact,
    by_device,
    by_dtype,
    device_problems,
    unsafe_problems,
)
from diagnostics.cache.pickles.key_paths import reached
from diagnostics.cache.pickles.values import PickleTensor
from diagnostics.cache.pickles.walk import PickleWalk
from diagnostics.cache.storages import StorageTag
from diagnostics.core.findings import Severity

MIN_WASTE_BYTES = 1 << 20  # below, a whole base beside its view harms nobody
MAX_USED_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PickleFacts:
    """What one pickle says. Equal pickles share one, so that their files' scans share its parts."""

    storages: tuple[StorageTag, ...]
    devices: Mapping[str, Tally]
    dtypes: Mapping[str, Tally]
    tensors: int
    facts: tuple[TensorFact, ...]
    problems: tuple[Problem, ...]  # their places lack the member

    def problems_of(self, member: str) -> tuple[Problem, ...]:
        """Returns the problems, placed in the member that holds the pickle."""
        return tuple(replace(problem, place=f"{member} {problem.place}") for problem in self.problems)


def facts_of(walk: PickleWalk) -> PickleFacts:
    """Returns what a walk found; the top of its stack is what the pickle builds."""
    storages = tuple(walk.storages.values())
    tags = (*storages, *walk.placed)
    keys, facts, bare = _by_key(walk)
    problems = (
        *device_problems(tags, "", keys),
        *unsafe_problems(list(walk.unsafe.values()), ""),
        *_refused(walk),
        *_beyond(walk, keys),
        *_oversized(walk, keys, bare),
        *_requiring_grad(walk, facts),
    )
    return PickleFacts(
        storages=storages,
        devices=by_device(tags),
        dtypes=by_dtype(_typed(walk, tag) for tag in tags),
        tensors=walk.tensors,
        facts=tuple(fact for fact, _ in facts[:MAX_FACTS]),
        problems=tuple(replace(problem, place=problem.place.strip()) for problem in problems),
    )


def _typed(walk: PickleWalk, tag: StorageTag) -> StorageTag:
    """Types without a storage class of their own are saved as bytes; their tensors know better."""
    dtype = walk.dtypes.get(tag) if tag.dtype == "bytes" else None
    return replace(tag, dtype=dtype) if dtype else tag


Named = list[tuple[TensorFact, PickleTensor]]


def _by_key(walk: PickleWalk) -> tuple[dict[StorageTag, str], Named, set[StorageTag]]:
    keys: dict[StorageTag, str] = {}
    facts: Named = []
    bare: set[StorageTag] = set()
    for key, value in reached(walk.stack[-1] if walk.stack else None):
        if isinstance(value, StorageTag):
            bare.add(value)
            keys.setdefault(value, key)
            continue
        facts.append((_fact(key, value), value))
        for tag in _storages(value):
            keys.setdefault(tag, key)
    return keys, facts, bare


def _fact(key: str, tensor: PickleTensor) -> TensorFact:
    parts = [part for part in tensor.parts if isinstance(part, PickleTensor)]
    return TensorFact(
        key=key,
        dtype=tensor.dtype,
        shape=tensor.size,
        device=tensor.device,
        bytes=tensor.bytes if tensor.storage or not parts else sum(part.bytes for part in parts),
        storage_bytes=sum(tag.bytes for tag in _storages(tensor)),
        requires_grad=tensor.requires_grad,
    )


def _storages(tensor: PickleTensor) -> list[StorageTag]:
    held = (tensor, *(part for part in tensor.parts if isinstance(part, PickleTensor)))
    return list(dict.fromkeys(part.storage for part in held if part.storage is not None))


def _refused(walk: PickleWalk) -> list[Problem]:
    if not walk.refused:
        return []
    calls = list(walk.refused.values())
    return [
        Problem(
            name="not-weights-only",
            observed=f"it names {listed([f'{call.name} (byte {call.offset})' for call in calls])}",
            expected="tensors, lists, dicts, numbers and strings only",
            place=f"byte {calls[0].offset}",
            severity=Severity.WARNING,
        )
    ]


def _beyond(walk: PickleWalk, keys: Mapping[StorageTag, str]) -> list[Problem]:
    """A view past the end of its storage: torch refuses the file."""
    beyond = [(tag, end) for tag, (_, _, end) in walk.used.items() if end > tag.bytes > 0 or end > tag.numel == 0]
    if not beyond:
        return []
    tag, end = beyond[0]
    return [
        Problem(
            name="corrupt-file",
            observed=f"{len(beyond)} storage{'s' * (len(beyond) > 1)} shorter than the tensors on them: "
            f"{_called(tag, keys)} has {tag.bytes:,} bytes, a tensor ends at byte {end:,}",
            expected="tensors inside their storage",
            place=f"byte {tag.offset}",
        )
    ]


def _oversized(walk: PickleWalk, keys: Mapping[StorageTag, str], bare: set[StorageTag]) -> list[Problem]:
    oversized = [
        (tag, used)
        for tag, (summed, begin, end) in walk.used.items()
        # Neither the sum nor the span of the views is less than what they use together: waste is never overstated.
        if (used := min(summed, end - begin)) + MIN_WASTE_BYTES <= tag.bytes
        and used < tag.bytes * MAX_USED_SHARE
        and tag not in bare
    ]
    if not oversized:
        return []
    names = listed([f"{_called(tag, keys)} uses {used:,} of {tag.bytes:,} bytes" for tag, used in oversized])
    return [
        Problem(
            name="oversized-view",
            observed=f"{len(oversized)} storage{'s' * (len(oversized) > 1)} saved whole for a small view: {names}",
            expected="tensors that own their storage: tensor.clone()",
            place=f"byte {oversized[0][0].offset}",
            severity=Severity.WARNING,
        )
    ]


def _requiring_grad(walk: PickleWalk, facts: Named) -> list[Problem]:
    names = {id(tensor): fact.key for fact, tensor in facts}
    problems = []
    for tensors, what, expected in (
        (
            [tensor for tensor in walk.kept_tensors if tensor.requires_grad and not tensor.parameter],
            "saved with requires_grad=True",
            "plain data: tensor.detach()",
        ),
        ([tensor for tensor in walk.kept_tensors if tensor.hooks], "saved with backward hooks", "no hooks"),
    ):
        if tensors:
            known = listed([names.get(id(tensor), "") or f"byte {tensor.at}" for tensor in tensors])
            problems.append(
                Problem(
                    name="requires-grad",
                    observed=f"{len(tensors)} tensor{'s' * (len(tensors) > 1)} {what} ({known})",
                    expected=expected,
                    place=f"byte {tensors[0].at}",
                    severity=Severity.WARNING,
                )
            )
    return problems


def _called(tag: StorageTag, keys: Mapping[StorageTag, str]) -> str:
    return keys.get(tag) or f"storage {tag.key}"


def listed(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are."""
    return ", ".join(names[:EXAMPLES]) + (f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else "")
