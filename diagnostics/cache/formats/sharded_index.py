"""The index of a sharded checkpoint (model.safetensors.index.json) whose shards are missing or hold other keys.

What it does: reads `weight_map` of an index that is recognised by its content, looks whether each shard is
there, and whether the header of each safetensors shard has the keys and sizes that the index promises. Of
shards in other formats only the presence is known from here; each is scanned by itself.

Why it matters: a shard that is missing is noticed after the others were loaded; a key that its shard does
not hold leaves a layer with random weights behind a warning. The names of shards are paths, and an index
from elsewhere may name files outside its folder.

Bad:

    cp out/model-00001-of-00003.safetensors out/model.safetensors.index.json deploy/

Good:

    cp out/model-*.safetensors out/model.safetensors.index.json deploy/

Fix: copy the shards that are named, or save the model again: the index is written with the shards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import EXAMPLES, FileScan, Problem
from diagnostics.cache.formats.named_files import MEANINGS as PATH_MEANINGS
from diagnostics.cache.formats.named_files import REMEDIES as PATH_REMEDIES
from diagnostics.cache.formats.named_files import path_problems, size_of
from diagnostics.core.findings import Severity

CODE = "C109"
NAME = "sharded-index"
FORMAT = "sharded index"
ENDINGS = ()
PART_OF_SEVERAL = True
MEANINGS = {
    **PATH_MEANINGS,
    "stale-index": "do not fit the shards beside them",
    "not-examined": "are too large to be examined here",
}
REMEDIES = {
    **PATH_REMEDIES,
    "stale-index": "save the model again: the index is written with the shards",
    "not-examined": "load the model once and read what the loader warns of",
}
MAX_BYTES = 16 << 20
MAX_VALUES = 400_000  # of a JSON text: what fills memory is their number
MAX_HEADER_BYTES = 64 << 20  # of all shards' headers together
LENGTH_BYTES = 8


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with a JSON object that soon has a weight_map."""
    return head[:1] == b"{" and b'"weight_map"' in head


def scan(file: FileBytes) -> FileScan:
    """Returns what is wrong with the index and its shards; never raises for what the file contains."""
    if file.size > MAX_BYTES:
        return _result(file, [_not_examined(f"{file.size:,} bytes", f"up to {MAX_BYTES:,} bytes")])
    try:
        index = _index(_json(file.read(0, file.size)))
    except TooManyTensorsError as error:
        return _result(file, [_not_examined(str(error), f"up to {MAX_VALUES:,}")])
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        return _result(file, [Problem(name=name, observed=str(error), expected="an index of shards")])
    return _result(file, list(_problems(file, index)))


class TooManyTensorsError(DamagedFileError):
    """A limit of ours, which says nothing against the file."""


@dataclass(slots=True)
class Index:
    """The keys of each shard, and the bytes that all tensors take together, where the index says it."""

    shards: dict[str, list[str]] = field(default_factory=dict)
    total_size: int | None = None


def _json(data: bytes) -> Any:
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise TooManyTensorsError("more values than are looked at")
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg
        raise DamagedFileError(f"no whole JSON: {error.msg} at character {error.pos}", truncated=cut) from None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"no JSON: {str(error)[:100]}") from None


def _index(found: Any) -> Index:
    weights = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(weights, dict) or not all(isinstance(name, str) for name in weights.values()):
        raise DamagedFileError("weight_map is no table of file names")
    index = Index()
    for key, name in weights.items():
        index.shards.setdefault(name, []).append(key)
    notes = found.get("metadata")
    total = notes.get("total_size") if isinstance(notes, dict) else None
    index.total_size = int(total) if isinstance(total, int | float) and 0 <= total < 1 << 62 else None
    return index


def _problems(file: FileBytes, index: Index) -> Iterator[Problem]:
    folder = file.path.rpartition("/")[0]
    sizes = {name: size_of(folder, name) for name in index.shards}
    yield from path_problems(index.shards, sizes, "weight_map")
    shards = Shards(index)
    for name, size in sizes.items():
        if size is not None:
            shards.add(name, _header(f"{folder or '.'}/{name}", MAX_HEADER_BYTES - shards.read))
    yield from shards.absent_keys()
    if shards.known == len(index.shards) and index.total_size is not None:
        yield from _other_size(index, shards.bytes)


@dataclass(slots=True)
class Shards:
    """What the headers of the shards say together; one is in memory at a time."""

    index: Index
    known: int = 0  # shards whose header could be read
    read: int = 0  # bytes of header
    bytes: int = 0  # of tensors
    absent: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, name: str, header: ShardHeader | None) -> None:
        """Compares one shard's header with the index."""
        if header is None:
            return
        self.known += 1
        self.read += header.size
        self.bytes += sum(header.tensors.values())
        for key in self.index.shards[name]:
            if key not in header.tensors:
                self.absent += 1
                if len(self.examples) < EXAMPLES:
                    self.examples.append(f"{key[:200]!a} in {ascii(name)[1:-1]}")

    def absent_keys(self) -> Iterator[Problem]:
        """Yields one problem for all keys that their shards do not hold."""
        if self.absent:
            more = f" and {self.absent - len(self.examples)} more" if self.absent > len(self.examples) else ""
            keys = sum(map(len, self.index.shards.values()))
            yield Problem(
                name="stale-index",
                observed=f"{self.absent} of {keys} keys are not in their shard: {', '.join(self.examples)}{more}",
                expected="each key in the header of the shard that the index names",
                place="weight_map",
            )


def _other_size(index: Index, held: int) -> Iterator[Problem]:
    if held != index.total_size:
        yield Problem(
            name="stale-index",
            observed=f"total_size is {index.total_size:,}, the shards hold {held:,} bytes of tensors",
            expected="the same number: the shards may be of another save",
            place="metadata",
            severity=Severity.WARNING,
        )


@dataclass(frozen=True, slots=True)
class ShardHeader:
    """The bytes of each tensor of a safetensors shard; `size` is what the header itself takes."""

    size: int
    tensors: dict[str, int]


def _header(path: str, limit: int) -> ShardHeader | None:
    """Returns the header of a safetensors shard; None for other files, damaged ones, and headers over `limit` bytes.

    What is wrong with a shard is told where the shard itself is scanned.
    """
    try:
        with FileBytes(path) as shard:
            begin = shard.read(0, LENGTH_BYTES + 1)
            length = int.from_bytes(begin[:LENGTH_BYTES], "little")
            if begin[LENGTH_BYTES:] != b"{" or length > min(limit, MAX_BYTES):
                return None
            entries = _json(shard.read(LENGTH_BYTES, length))
    except (OSError, DamagedFileError):
        return None
    if not isinstance(entries, dict):
        return None
    tensors = {key: _length(entry) for key, entry in entries.items() if key != "__metadata__"}
    return ShardHeader(length, tensors)


def _length(entry: Any) -> int:
    match entry:
        case {"data_offsets": [int(begin), int(end)]}:
            return end - begin
    return 0


def _not_examined(observed: str, expected: str) -> Problem:
    return Problem(name="not-examined", observed=observed, expected=expected, severity=Severity.WARNING)


def _result(file: FileBytes, problems: list[Problem]) -> FileScan:
    # The tensors are counted where they lie, in the shards.
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=tuple(problems))
