"""What a scan of one cache file says: which devices its storages name, and what is wrong with it.

Standard library only, and small: a folder of 100,000 files sends 100,000 of these between processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from diagnostics.cache.dangerous_globals import dangerous
from diagnostics.cache.storages import StorageTag
from diagnostics.core.findings import Severity

# Loading these needs no device of the machine that wrote the file.
HARMLESS_DEVICES = frozenset({"cpu", "meta"})
MAX_NAMES, OTHERS = 64, "others"  # a hostile file may name a different device for each storage
MAX_FACTS = 64  # tensors of one file that are described one by one
EXAMPLES = 5  # offending items of one file that are kept as evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many storages, and how many bytes they hold."""

    storages: int = 0
    bytes: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(storages=self.storages + other.storages, bytes=self.bytes + other.bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with one file; `place` is the member and offset that shows it."""

    name: str  # a key of cache_words.MEANINGS: cuda-in-cache | truncated-file | corrupt-file | unsafe-pickle | ...
    observed: str
    expected: str = ""
    place: str = ""
    severity: Severity = Severity.ERROR
    dangerous: bool = False  # of an unsafe pickle: it reaches the system, or any code at all


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFact:
    """One tensor or array of a file.

    `key` is how a program reaches it ("latent", "state.layers[0].weight"; "" for a file that is one tensor);
    `device` is the tag as written, empty where the format has none; `storage_bytes` is what its whole storage
    takes, of which `bytes` are its own elements.
    """

    key: str
    dtype: str
    shape: tuple[int, ...]
    device: str = ""
    bytes: int = 0
    storage_bytes: int = 0
    requires_grad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScan:
    """One file. `format` is empty and `skipped` says why where no format recognised it."""

    path: str
    size: int  # bytes
    code: str = ""
    format: str = ""
    devices: Mapping[str, Tally] = field(default_factory=dict)
    dtypes: Mapping[str, Tally] = field(default_factory=dict)
    tensors: int = 0
    facts: tuple[TensorFact, ...] = ()  # the first MAX_FACTS of its tensors, in the file's order
    content: str = ""  # equal for files of equal data, as far as checksums in the file tell; empty: unknown
    problems: tuple[Problem, ...] = ()
    skipped: str = ""


def by_device(storages: Iterable[StorageTag]) -> dict[str, Tally]:
    """Returns the tally of each device tag."""
    return _tally((tag.location, tag.bytes) for tag in storages)


def by_dtype(storages: Iterable[StorageTag]) -> dict[str, Tally]:
    """Returns the tally of each element type."""
    return _tally((tag.dtype, tag.bytes) for tag in storages)


def _tally(pairs: Iterable[tuple[str, int]]) -> dict[str, Tally]:
    counts: dict[str, list[int]] = {}
    for name, size in pairs:
        count = counts.setdefault(name if name in counts or len(counts) < MAX_NAMES else OTHERS, [0, 0])
        count[0] += 1
        count[1] += size
    return {name: Tally(storages=count, bytes=size) for name, (count, size) in counts.items()}


def device_problems(
    storages: Iterable[StorageTag], member: str, keys: Mapping[StorageTag, str] | None = None
) -> list[Problem]:
    """Returns one problem a foreign device: every storage that a machine without it cannot load.

    `keys` says by which key a program reaches a tensor of the storage.
    """
    foreign: dict[str, list[StorageTag]] = {}
    for tag in storages:
        if tag.location not in HARMLESS_DEVICES:
            known = tag.location in foreign or len(foreign) < MAX_NAMES
            foreign.setdefault(tag.location if known else OTHERS, []).append(tag)
    return [_device_problem(location, tags, member, keys or {}) for location, tags in sorted(foreign.items())]


def _device_problem(location: str, tags: list[StorageTag], member: str, keys: Mapping[StorageTag, str]) -> Problem:
    names = ", ".join(_named(tag, keys.get(tag, "")) for tag in tags[:EXAMPLES])
    return Problem(
        name="cuda-in-cache",
        observed=f"{len(tags)} storage{'s' * (len(tags) > 1)} tagged {location} "
        f"(key {names}{', ...' * (len(tags) > EXAMPLES)})",
        expected="cpu",
        place=f"{member} byte {tags[0].offset}",
    )


def _named(tag: StorageTag, key: str) -> str:
    if not tag.key:  # a tensor that names its device itself
        return key or f"of the tensor at byte {tag.offset}"
    return f"{tag.key} = {key}" if key else tag.key


def unsafe_problems(unsafe: Sequence[UnsafeCall], member: str) -> list[Problem]:
    """Returns one problem that names what the pickle would import or call, none where it is only tensors."""
    if not unsafe:
        return []
    names = ", ".join(f"{call.name} (byte {call.offset})" for call in unsafe[:EXAMPLES])
    more = f" and {len(unsafe) - EXAMPLES} more" if len(unsafe) > EXAMPLES else ""
    return [
        Problem(
            name="unsafe-pickle",
            observed=f"loading it would import {names}{more}",
            expected="tensor rebuilding only",
            place=f"{member} byte {unsafe[0].offset}",
            dangerous=any(dangerous(call.name) for call in unsafe),
        )
    ]


class UnsafeCall(NamedTuple):
    """A name beyond tensor rebuilding, and the offset at which the pickle asks for it."""

    name: str
    offset: int


def shown_names(names: list[str]) -> str:
    """Returns the first names of many, as evidence."""
    more = f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else ""
    return ", ".join(ascii(name)[1:-1][:200] for name in names[:EXAMPLES]) + more
