"""How a torch zip file with foreign device tags becomes one without: only its small `data.pkl` is written anew.

The patched pickle, a new directory and a new end record may stand behind the old end: readers search the end
record from the file's end, so the file reads as the old one until the last byte is there, and as the new one then.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

from diagnostics.cache.archives.zip_directory import END, STORED, ZipMember, read_member
from diagnostics.cache.archives.zip_layout import read_layout
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.patch import ByteRange, Patch, UnrepairableError
from diagnostics.cache.pickles.templates import KnownPickles
from diagnostics.cache.rewriting.pickle_edits import (
    PickleEdit,
    PlacesWalk,
    changes,
    device_edits,
    edited,
    foreign_devices,
    frame_edits,
    replaced,
    walk_places,
)
from diagnostics.cache.rewriting.storage_cuts import Cut, cuts
from diagnostics.cache.rewriting.torch_zip_compact import compacted
from diagnostics.cache.rewriting.zip_edits import (
    DESCRIPTOR,
    HAS_DESCRIPTOR,
    Archive,
    Entry,
    data_at,
    local_header,
    moved,
    read_archive,
)

MAX_PICKLE_BYTES = 32 << 20  # as the scan
# Readers find an end record whose signature begins at most 65,535 + 22 bytes before the file's end.
MAX_BEHIND_END = 0xFFFF
CRC_AT = 14  # in a local header


def repair(file: FileBytes, *, compact: bool) -> Patch | None:
    """Returns the patch that makes every foreign device `cpu`, None where there is nothing to do.

    `compact` also leaves out what no tensor uses. Raises DamagedFileError and UnrepairableError.
    """
    found = _pickle(file)
    if found is None:
        return None
    archive, entry, old = found
    if compact and (patch := _compact(file, archive, entry, old)):
        return patch
    foreign, new = _on_cpu(old)
    if not foreign:
        return None
    tail = _tail(file, archive, entry, new)
    return Patch(
        pieces=_in_place(file, archive, entry, new) or (ByteRange(0, file.size), tail),
        changes=changes(foreign),
        tail=tail if _reads_as_old_until_whole(file, archive, tail) else b"",
    )


def same_length(file: FileBytes) -> tuple[dict[str, int], tuple[ByteRange | bytes, ...]] | None:
    """Returns the storages of each foreign device and the file with `cpu` for all, every byte at its place.

    For archives whose place and length stand elsewhere; None where there is nothing to do. Raises
    DamagedFileError and UnrepairableError.
    """
    found = _pickle(file)
    foreign, new = _on_cpu(found[2]) if found else ({}, b"")
    if found is None or not foreign:
        return None
    pieces = _in_place(file, found[0], found[1], new)
    if pieces is None:
        raise UnrepairableError("its patched pickle does not fit into the place of the old one")
    return foreign, pieces


def _pickle(file: FileBytes) -> tuple[Archive, Entry, bytes] | None:
    directory = read_layout(file)
    archive = read_archive(file, directory.data, directory.offset, directory.layout.pickle_entry)
    entry = archive.known_entry or next((one for one in archive.entries if one.name.endswith(b"/data.pkl")), None)
    if entry is None:
        return None
    if directory.layout.pickle_entry is None:
        directory.layout.pickle_entry = archive.place_of(entry)
    return archive, entry, read_member(file, _member(entry), MAX_PICKLE_BYTES)


def _compact(file: FileBytes, archive: Archive, entry: Entry, old: bytes) -> Patch | None:
    walk = walk_places(old)
    found = _whole_members(archive, entry, cuts(walk), walk)
    if not found:
        return None
    edits = [*device_edits(walk), *(edit for cut in found.values() for edit in cut.edits)]
    pieces = compacted(file, archive, entry, edited(walk, edits), found)
    saved = sum(_sizes(walk)[key] - cut.size for key, cut in found.items())
    what = f"{saved:,} bytes that no tensor uses left out of {len(found)} storage{'s' * (len(found) > 1)}"
    return Patch(pieces=pieces, changes=(*changes(foreign_devices(walk)), what))


def _sizes(walk: PlacesWalk) -> dict[str, int]:
    return {str(tag.key): tag.bytes for tag in walk.storages.values()}


def _whole_members(archive: Archive, entry: Entry, found: dict[str, Cut], walk: PlacesWalk) -> dict[str, Cut]:
    """Returns the cuts whose storages are there, stored, as long as the pickle says."""
    root, sizes = entry.name.removesuffix(b"data.pkl"), _sizes(walk)
    stored = {member.name: member.size for member in archive.entries if member.method == STORED}
    return {key: cut for key, cut in found.items() if stored.get(root + b"data/" + key.encode()) == sizes[key]}


@dataclass(frozen=True, slots=True)
class OnCpu:
    """The edits that make every device of a pickle `cpu`, and how many storages named which other one."""

    foreign: dict[str, int]
    edits: tuple[PickleEdit, ...]
    end: int  # of the pickle


def on_cpu(pickle: bytes) -> OnCpu:
    """Returns the edits; they are those of each pickle that differs only in what no tensor has to do with."""
    walk = walk_places(pickle)
    foreign = foreign_devices(walk)
    edits = device_edits(walk) if foreign else []
    return OnCpu(foreign, (*edits, *frame_edits(walk, edits)), walk.at)


KNOWN = KnownPickles(on_cpu)


def _on_cpu(pickle: bytes) -> tuple[dict[str, int], bytes]:
    known = KNOWN.told(pickle)
    return known.foreign, replaced(pickle, 0, known.end, known.edits) if known.foreign else b""


def _member(entry: Entry) -> ZipMember:
    return ZipMember(
        entry.name.decode("utf-8", "replace"), entry.method, entry.flags, entry.stored, entry.size, entry.offset
    )


def _tail(file: FileBytes, archive: Archive, entry: Entry, pickle: bytes) -> bytes:
    new = moved(entry, crc=zlib.crc32(pickle), size=len(pickle), offset=file.size)
    member = local_header(new) + pickle
    return member + archive.end_with(entry, new, file.size + len(member))


def _reads_as_old_until_whole(file: FileBytes, archive: Archive, tail: bytes) -> bool:
    # A user's string may hold an end record's signature: cut there, the file would be neither old nor new. Nor
    # may a comment follow the end record: it must come last, in one piece.
    plain = tail.count(END) == 1 and not archive.comment
    return plain and file.size - archive.behind + len(tail) <= MAX_BEHIND_END


def _in_place(file: FileBytes, archive: Archive, entry: Entry, pickle: bytes) -> tuple[ByteRange | bytes, ...] | None:
    """Returns the whole file with the pickle at its old place: every other byte stays where it is."""
    if entry.method != STORED or len(pickle) > entry.size:
        return None
    padded = pickle.ljust(entry.size, b"\0")  # behind STOP nobody reads
    new = replace(entry, crc=zlib.crc32(padded))
    begin = data_at(file, entry)
    end = begin + entry.size
    header = file.read(entry.offset, begin - entry.offset)
    if not entry.flags & HAS_DESCRIPTOR:
        header = header[:CRC_AT] + new.crc.to_bytes(4, "little") + header[CRC_AT + 4 :]
    descriptor = _descriptor(file, entry, end, new.crc)
    directory = archive.end_with(entry, new, archive.directory_at)
    if (
        archive.directory_at < end
        or len(directory) != archive.end_at + 22 + len(archive.comment) - archive.directory_at
    ):
        return None  # entries that another tool wrote in another form
    rest = end + len(descriptor)
    behind = archive.directory_at + len(directory)
    pieces = (
        ByteRange(0, entry.offset),
        header + padded + descriptor,
        ByteRange(rest, archive.directory_at - rest),
        directory,
        ByteRange(behind, file.size - behind),
    )
    return tuple(piece for piece in pieces if not isinstance(piece, ByteRange) or piece.size)


def _descriptor(file: FileBytes, entry: Entry, at: int, crc: int) -> bytes:
    """Returns the start of what follows a member's data, with the new CRC where the old one stands."""
    if not entry.flags & HAS_DESCRIPTOR:
        return b""
    signed = DESCRIPTOR + entry.crc.to_bytes(4, "little")
    found = file.read(at, 8)
    if found == signed:
        return DESCRIPTOR + crc.to_bytes(4, "little")
    # The signature is optional; what is neither is no descriptor, and nobody's business here.
    return crc.to_bytes(4, "little") + found[4:] if found[:4] == signed[4:] else found
