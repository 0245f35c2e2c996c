"""The `.metadata` of a distributed checkpoint: parts that are missing or shorter than it says.

What it does: reads the opcodes of the metadata's pickle as data (nothing is unpickled), takes the keys, types and
shapes out of it, and compares where each item lies with the sizes of the `.distcp` files beside it.

Why it matters: `torch.distributed.checkpoint` unpickles the metadata itself, so one from elsewhere can run
anything. A part that is missing or cut off stops the rank that reads it while the others wait at the
collective, minutes or hours into a restart.

Bad:

    rsync node0:ckpt/step_2000/ ckpt/step_2000/          # the parts of the other nodes are left behind

Good:

    save to storage that all nodes share; copy the whole folder, `.metadata` last

Fix: copy the parts that are named again, or resume from the checkpoint before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import (
    EXAMPLES,
    MAX_FACTS,
    FileScan,
    Problem,
    TensorFact,
    unsafe_problems,
)
from diagnostics.cache.formats.dcp_pickle import MetadataWalk, Record, Table, items_of, walk_metadata
from diagnostics.cache.formats.named_files import MEANINGS as PATH_MEANINGS
from diagnostics.cache.formats.named_files import REMEDIES as PATH_REMEDIES
from diagnostics.cache.formats.named_files import path_problems, size_of
from diagnostics.cache.pickles.values import Global
from diagnostics.cache.pickles.walk import MAX_OPS, MalformedPickleError
from diagnostics.cache.storages import STORAGE_TYPES
from diagnostics.core.findings import Severity

CODE = "C108"
NAME = "distributed-metadata"
FORMAT = "torch distributed metadata"
ENDINGS = (".metadata",)
PART_OF_SEVERAL = True
MEANINGS = {
    **PATH_MEANINGS,
    "truncated-part": "name files that are shorter than they say",
    "not-examined": "are too large to be examined here",
}
REMEDIES = {
    **PATH_REMEDIES,
    "truncated-part": "copy these files again, or go back to the checkpoint before",
    "not-examined": "load the checkpoint once; loading reads the whole of it",
}
MODULE = b"torch.distributed.checkpoint.metadata"
MAX_BYTES = 8 << 20  # with MAX_OPS opcodes this stays below 256 MiB of memory
MAX_FILES = 100_000
ITEM_BYTES = dict(STORAGE_TYPES.values())


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with a pickle whose first name is of torch's checkpoint metadata."""
    return head.startswith(b"\x80") and MODULE in head[:128]


def scan(file: FileBytes) -> FileScan:
    """Returns what the metadata says and whether the files beside it fit; never raises for what the file contains."""
    if file.size > MAX_BYTES:
        return _not_examined(file, f"{file.size:,} bytes", f"up to {MAX_BYTES:,} bytes")
    data = file.read(0, file.size)
    try:
        walk = walk_metadata(data)
    except MalformedPickleError as error:
        if str(error).startswith("more than"):
            return _not_examined(file, str(error), f"up to {MAX_OPS:,} opcodes")
        name = "truncated-file" if error.truncated else "corrupt-file"
        return _result(file, [Problem(name=name, observed=str(error), expected="a whole pickle")])
    except DamagedFileError as error:
        return _result(file, [Problem(name="corrupt-file", observed=str(error), expected="a whole pickle")])
    unsafe = unsafe_problems(list(walk.unsafe.values()), "pickle")
    root = walk.stack[-1] if walk.stack else None
    if not isinstance(root, Record) or not root.name.endswith(".Metadata"):
        other = Problem(name="corrupt-file", observed="it holds no Metadata object", expected="a checkpoint's metadata")
        return _result(file, unsafe or [other])
    return _result(file, [*unsafe, *_file_problems(file, walk)], _facts(root))


def _not_examined(file: FileBytes, observed: str, expected: str) -> FileScan:
    # Of 50,000 shards of tensors and more the metadata is healthy and large: a note, no alarm. The parts are examined.
    problem = Problem(name="not-examined", observed=observed, expected=expected, severity=Severity.INFO)
    return _result(file, [problem])


def _result(file: FileBytes, problems: list[Problem], facts: tuple[TensorFact, ...] = ()) -> FileScan:
    # The tensors are counted where they lie, in the parts.
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, facts=facts, problems=tuple(problems))


@dataclass(slots=True)
class CheckpointPart:
    """What the metadata says of one file: how far its items reach, and the keys of the first."""

    end: int = 0
    keys: list[str] = field(default_factory=list)


def _file_problems(file: FileBytes, walk: MetadataWalk) -> Iterator[Problem]:
    parts = _parts(walk)
    folder = file.path.rpartition("/")[0]
    sizes = {name: size_of(folder, name) for name in parts}
    yield from path_problems(parts, sizes, "storage_data")
    short = [(name, size) for name, size in sizes.items() if size is not None and size < parts[name].end]
    if short:
        shown = ", ".join(
            f"{ascii(name)[1:-1][:200]} has {size} of {parts[name].end} bytes" for name, size in short[:EXAMPLES]
        )
        more = f" and {len(short) - EXAMPLES} more" if len(short) > EXAMPLES else ""
        yield Problem(
            name="truncated-part",  # the metadata itself is whole, and no file to move away
            observed=f"{len(short)} of {len(parts)} parts cut off: {shown}{more}",
            expected=f"whole items (of the first: {', '.join(parts[short[0][0]].keys)})",
            place="storage_data",
        )


def _parts(walk: MetadataWalk) -> dict[str, CheckpointPart]:
    parts: dict[str, CheckpointPart] = {}
    for item in items_of(walk):
        if item.path not in parts and len(parts) >= MAX_FILES:
            continue
        part = parts.setdefault(item.path, CheckpointPart())
        part.end = max(part.end, item.offset + item.length)
        if len(part.keys) < EXAMPLES:
            part.keys.append(ascii(item.key)[1:-1])
    return parts


def _facts(root: Record) -> tuple[TensorFact, ...]:
    facts = []
    known = root.get("state_dict_metadata")
    for key, entry in known.items() if isinstance(known, Table) else ():
        fact = _fact(key, entry) if isinstance(key, str) and isinstance(entry, Record) else None
        if fact is not None:
            facts.append(fact)
        if len(facts) == MAX_FACTS:
            break
    return tuple(facts)


def _fact(key: str, entry: Record) -> TensorFact | None:
    match entry.get("size"), entry.get("properties"):
        case Record("torch.Size", (tuple(shape),)), Record(_, _, (Global(name), _, grad, *_)) if _is_shape(shape):
            dtype = name.removeprefix("torch.")
            size = math.prod(shape) * ITEM_BYTES.get(dtype, 0)
            return TensorFact(
                key=key, dtype=dtype, shape=shape, bytes=size, storage_bytes=size, requires_grad=grad is True
            )
    return None


def _is_shape(shape: tuple[Any, ...]) -> bool:
    return len(shape) <= 64 and all(type(size) is int and 0 <= size < 1 << 62 for size in shape)
