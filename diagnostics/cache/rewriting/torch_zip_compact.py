"""A torch zip file written anew without the parts of its storages that no tensor uses.

Members keep their order and stand as torch's own writer would place them: readers that compute offsets instead of
reading headers (`torch.utils.serialization.config.load.calculate_storage_offsets`) count on that.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from diagnostics.cache.archives.zip_directory import FULL32, STORED
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.patch import ByteRange, UnrepairableError
from diagnostics.cache.rewriting.storage_cuts import Cut
from diagnostics.cache.rewriting.zip_edits import (
    DESCRIPTOR,
    HAS_DESCRIPTOR,
    LOCAL_HEADER,
    Archive,
    Entry,
    data_at,
    local_header,
    read_small,
)

ALIGNMENT = 64  # of every member's data, where no record says otherwise
READ_BYTES = 1 << 20


def compacted(
    file: FileBytes, archive: Archive, pickle: Entry, content: bytes, cuts: Mapping[str, Cut]
) -> tuple[ByteRange | bytes, ...]:
    """Returns the whole new file. Raises UnrepairableError where it could not be laid out as torch does."""
    root = pickle.name.removesuffix(b"data.pkl")
    by_name = {root + b"data/" + key.encode(): cut for key, cut in cuts.items()}
    writer = Writer(_alignment(file, archive, root))
    for entry in sorted(archive.entries, key=lambda entry: entry.offset):
        cut = by_name.get(entry.name)
        if entry.name == pickle.name:
            writer.add(entry, replace(entry, method=STORED), [content], zlib.crc32(content))
        elif cut is None:
            writer.add(entry, entry, [ByteRange(data_at(file, entry), entry.stored)], entry.crc)
        else:
            begin = data_at(file, entry)
            parts = [ByteRange(begin + part.offset, part.size) for part in cut.parts]
            writer.add(entry, entry, parts, _crc(file, parts))
    end = archive.end([writer.new[entry.name] for entry in archive.entries], writer.at)
    return (*writer.pieces, end)


def _alignment(file: FileBytes, archive: Archive, root: bytes) -> int:
    entry = next((entry for entry in archive.entries if entry.name == root + b".storage_alignment"), None)
    text = read_small(file, entry) if entry else b""
    return int(text) if text.isdigit() and 0 < int(text) <= 1 << 16 else ALIGNMENT


def _crc(file: FileBytes, parts: Iterable[ByteRange]) -> int:
    crc = 0
    for part in parts:
        for at in range(part.offset, part.offset + part.size, READ_BYTES):
            crc = zlib.crc32(file.read(at, min(READ_BYTES, part.offset + part.size - at)), crc)
    return crc


@dataclass(slots=True)
class Writer:
    """Places members one after another."""

    alignment: int
    at: int
    pieces: list[ByteRange | bytes]
    new: dict[bytes, Entry]

    def __init__(self, alignment: int) -> None:
        self.alignment, self.at, self.pieces, self.new = alignment, 0, [], {}

    def add(self, old: Entry, entry: Entry, parts: list[ByteRange] | list[bytes], crc: int) -> None:
        """Places one member; `parts` are its bytes as stored."""
        stored = sum(part.size if isinstance(part, ByteRange) else len(part) for part in parts)
        size = entry.size if entry.method != STORED else stored
        # As torch: a descriptor behind the data, none behind nothing.
        described = bool(old.flags & HAS_DESCRIPTOR) and stored > 0
        flags = entry.flags | HAS_DESCRIPTOR if described else entry.flags & ~HAS_DESCRIPTOR
        new = replace(entry, flags=flags, crc=crc, stored=stored, size=size, offset=self.at)
        shown = replace(new, crc=0, stored=0, size=0) if described else new
        header = local_header(shown, self._padding(len(entry.name)))
        descriptor = DESCRIPTOR + b"".join(n.to_bytes(4, "little") for n in (crc, stored, size)) if described else b""
        self.pieces += [piece for piece in (header, *parts, descriptor) if isinstance(piece, ByteRange) or piece]
        self.at += len(header) + stored + len(descriptor)
        if self.at >= FULL32:
            raise UnrepairableError("more than 4 GiB are left after compaction")
        self.new[entry.name] = new

    def _padding(self, name_bytes: int) -> bytes:
        begin = self.at + LOCAL_HEADER.size + name_bytes + 4
        size = -begin % self.alignment
        return b"FB" + size.to_bytes(2, "little") + b"Z" * size
