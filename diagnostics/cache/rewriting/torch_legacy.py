"""How a torch file of the old format with foreign device tags becomes one without: its fourth pickle is edited.

What follows moves by as many bytes as the tags grow shorter, so the file is written as a copy.
"""

from __future__ import annotations

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.patch import Patch
from diagnostics.cache.pickles.opcodes import HANDLERS
from diagnostics.cache.pickles.walk import MalformedPickleError, PickleWalk
from diagnostics.cache.rewriting.pickle_edits import (
    PickleEdit,
    PlacesWalk,
    changes,
    device_edits,
    foreign_devices,
    frame_edits,
    pieces_of,
    walk_places,
)

FIRST_READ, MAX_PICKLE_BYTES = 64 << 10, 32 << 20  # as the scan
BEFORE = ("magic number", "protocol version", "system facts")


def repair(file: FileBytes, *, compact: bool) -> Patch | None:
    """Returns the patch that makes every foreign device `cpu`, None where there is nothing to do.

    Raises DamagedFileError and UnrepairableError.
    """
    walk = _object_pickle(file)
    foreign = foreign_devices(walk)
    if not foreign:
        return None
    return Patch(pieces=tuple(pieces_of(0, file.size, legacy_edits(walk))), changes=changes(foreign))


def _object_pickle(file: FileBytes) -> PlacesWalk:
    for limit in (FIRST_READ, MAX_PICKLE_BYTES):
        try:
            return walk_object(file.head(limit))
        except MalformedPickleError:
            if limit == MAX_PICKLE_BYTES or file.size <= limit:
                raise
    raise AssertionError("unreachable: the last limit raises")


def walk_object(data: bytes, begin: int = 0) -> PlacesWalk:
    """Returns the walk over the object's pickle of the old format, which begins at byte `begin` of `data`."""
    before = PickleWalk(data, begin)
    for _ in BEFORE:
        before.stack, before.marks, before.memo = [], [], {}
        before.run(HANDLERS)
    return walk_places(data, before.at)


def legacy_edits(walk: PlacesWalk) -> list[PickleEdit]:
    """Returns the edits of the object's pickle, frames included."""
    edits = device_edits(walk)
    return [*edits, *frame_edits(walk, edits)]
