"""How a plain pickle with foreign device tags becomes one without: the torch files in its bytes are edited.

Each becomes shorter or longer by a few bytes, so the lengths of the bytes and of the frames around them change,
too, and the file is written as a copy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.patch import Patch, UnrepairableError
from diagnostics.cache.pickles.values import Blob, Global
from diagnostics.cache.pickles.walk import MalformedPickleError, PickleWalk
from diagnostics.cache.rewriting.pickle_edits import (
    PLACES,
    PickleEdit,
    PlacesWalk,
    changes,
    device_edits,
    foreign_devices,
    frame_edits,
    pieces_of,
)
from diagnostics.cache.rewriting.torch_legacy import legacy_edits, walk_object

MAX_PICKLE_BYTES = 64 << 20  # as the scan
MAX_PICKLES = 1000
LOADER = Global("torch.storage._load_from_bytes")


@dataclass(slots=True)
class PlainPlaces(PlacesWalk):
    """A walk that also knows the callable that makes a storage of the bytes of a torch file."""

    def name(self, name: str) -> Global:
        """Returns the global, and notes it when it is more than tensor rebuilding."""
        return LOADER if name == LOADER.name else PickleWalk.name(self, name)


def repair(file: FileBytes, *, compact: bool) -> Patch | None:
    """Returns the patch that makes every foreign device `cpu`, None where there is nothing to do.

    Raises DamagedFileError and UnrepairableError.
    """
    data = file.head(MAX_PICKLE_BYTES)
    edits: list[PickleEdit] = []
    foreign: Counter[str] = Counter()
    at = 0
    for _ in range(MAX_PICKLES):
        walk = PlainPlaces(data, at)
        walk.run(PLACES)
        at = walk.at
        _add_pickle(walk, edits, foreign)
        if at >= len(data) or data[at] != 0x80:
            break
    if not foreign:
        return None
    return Patch(pieces=tuple(pieces_of(0, file.size, edits)), changes=changes(dict(sorted(foreign.items()))))


def _add_pickle(walk: PlainPlaces, edits: list[PickleEdit], foreign: Counter[str]) -> None:
    mine = device_edits(walk)
    foreign.update(foreign_devices(walk))
    loaded = [arguments[0] for name, arguments in walk.calls if name == LOADER.name and _is_one(arguments)]
    for blob in dict.fromkeys(blob for blob in loaded if isinstance(blob, Blob) and not blob.text):
        mine += _inside(walk, blob, foreign)
    edits += (*mine, *frame_edits(walk, mine))


def _is_one(arguments: object) -> bool:
    return isinstance(arguments, tuple) and len(arguments) == 1


def _inside(walk: PlainPlaces, blob: Blob, foreign: Counter[str]) -> list[PickleEdit]:
    """Returns the edits of a torch file in bytes, and of the bytes' length."""
    try:
        inner = walk_object(walk.data, blob.offset)
    except MalformedPickleError:
        return []  # bytes of another kind: the scan has none of their tags either
    edits = legacy_edits(inner)
    if not edits:
        return []
    if inner.at > blob.offset + blob.size:
        raise UnrepairableError(f"the torch file at byte {blob.offset} of the pickle does not end where its bytes do")
    foreign.update(foreign_devices(inner))
    size = blob.size + sum(len(edit.new) - (edit.end - edit.begin) for edit in edits)
    opcode_at = walk.blobs[blob.offset]
    size_bytes = blob.offset - opcode_at - 1
    return [*edits, PickleEdit(opcode_at + 1, blob.offset, size.to_bytes(size_bytes, "little"))]
