"""Whether a repaired file holds what the old one held, less its foreign device tags: read back, not assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import HARMLESS_DEVICES, FileScan, Tally, TensorFact
from diagnostics.cache.scan.one_file import CacheFormat, format_of

GONE = frozenset({"cuda-in-cache", "oversized-view"})  # what a repair takes away


def content(path: str, *, like: tuple[str, CacheFormat] | None = None) -> tuple[FileScan, CacheFormat]:
    """Returns what the file holds, and its format.

    `like` is the path and the format of the file that it is to replace: under a temporary name, both could be
    taken for others. OSError passes; raises DamagedFileError for a file of no known format.
    """
    with FileBytes(path) as file:
        plugin = format_of(file)
        if like is not None:
            file.path, plugin = like
        if plugin is None:
            raise DamagedFileError("it is of no known format")
        return plugin.scan(file), plugin


def difference(old: FileScan, new: FileScan) -> str:
    """Returns what is wrong with the repaired file, in words; empty where it is right."""
    if (new.format, new.skipped) != (old.format, old.skipped):
        return f"it is {new.format or new.skipped}, it was {old.format or old.skipped}"
    if new.tensors != old.tensors:
        return f"it has {new.tensors} tensors, it had {old.tensors}"
    if foreign := [device for device in new.devices if device not in HARMLESS_DEVICES]:
        return f"it still names {', '.join(foreign)}"
    if _numbers(new.dtypes) != _numbers(old.dtypes):
        return "its storages differ in type or number"
    if _total(new.dtypes.values()) > _total(old.dtypes.values()):
        return "its storages are larger"
    if [_same(fact) for fact in new.facts] != [_same(fact) for fact in old.facts]:
        return "its tensors differ in name, type or shape"
    if extra := _problems(new) - _problems(old):
        return f"it has a problem that it had not: {', '.join(sorted(extra))}"
    return ""


def _numbers(tallies: Mapping[str, Tally]) -> dict[str, int]:
    return {name: tally.storages for name, tally in tallies.items()}


def _total(tallies: Iterable[Tally]) -> int:
    return sum(tally.bytes for tally in tallies)


def _same(fact: TensorFact) -> tuple[object, ...]:
    """Returns what of a tensor a repair leaves as it is: all but its device and what its storage takes."""
    return fact.key, fact.dtype, fact.shape, fact.bytes, fact.requires_grad


def _problems(scan: FileScan) -> Counter[str]:
    return Counter(problem.name for problem in scan.problems if problem.name not in GONE)
