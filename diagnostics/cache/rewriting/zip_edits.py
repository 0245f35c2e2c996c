"""A zip archive as bytes to keep and bytes to replace: its entries as they stand, and the records that end it.

The scan reads only names, sizes and offsets (zip_directory); a repair writes entries back, so it keeps every
field it does not change. Layout: PKWARE APPNOTE 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from diagnostics.cache.archives.zip_directory import (
    CENTRAL,
    END,
    END64,
    FULL16,
    FULL32,
    LOCAL,
    LOCATOR64,
    STORED,
    ZipMember,
    read_members,
)
from diagnostics.cache.file_bytes import WIDE_TAIL_BYTES, DamagedFileError, FileBytes
from diagnostics.cache.patch import UnrepairableError

_END = struct.Struct("<4s4H2LH")
_LOCATOR64 = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s4H4s3L5H2L")  # time and date as four bytes
LOCAL_HEADER = struct.Struct("<4s3H4s3L2H")
HAS_DESCRIPTOR = 8  # a flag: CRC and sizes stand behind the data
DESCRIPTOR = b"PK\x07\x08"
ZIP64_EXTRA = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the central directory."""

    name: bytes
    made_by: int
    needs: int
    flags: int
    method: int
    time: bytes
    crc: int
    stored: int
    size: int
    extra: bytes  # without the zip64 field
    comment: bytes
    disk: int
    attributes: tuple[int, int]
    offset: int

    def record(self) -> bytes:
        """Returns the entry as it stands in a directory, with a zip64 field where a number needs it."""
        wide = [value for value in (self.size, self.stored, self.offset) if value >= FULL32]
        extra = (struct.pack("<2H", ZIP64_EXTRA, 8 * len(wide)) if wide else b"") + struct.pack(f"<{len(wide)}Q", *wide)
        extra += self.extra
        fixed = _CENTRAL.pack(
            CENTRAL,
            self.made_by,
            max(self.needs, 45) if wide else self.needs,
            self.flags,
            self.method,
            self.time,
            self.crc,
            min(self.stored, FULL32),
            min(self.size, FULL32),
            len(self.name),
            len(extra),
            len(self.comment),
            self.disk,
            *self.attributes,
            min(self.offset, FULL32),
        )
        return fixed + self.name + extra + self.comment


@dataclass(frozen=True, slots=True)
class Archive:
    """A directory as it stands and the records behind it: where both begin, and what follows.

    `known` is where in the directory the entry of the pickle stands, if an archive like this one was read before.
    """

    directory: bytes
    directory_at: int
    end_at: int  # of the end record proper
    comment: bytes
    zip64: bool
    made_by64: tuple[int, int]
    count: int  # of entries
    known: tuple[int, int] | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in the directory's order; each time read anew."""
        return _entries(self.directory)

    @property
    def known_entry(self) -> Entry | None:
        """The entry whose place is known."""
        return _entries(self.directory[slice(*self.known)])[0] if self.known else None

    def place_of(self, entry: Entry) -> tuple[int, int] | None:
        """Returns where an entry stands, None where entries written anew would not be the bytes that stand there."""
        entries = self.entries
        records = [one.record() for one in entries]
        if b"".join(records) != self.directory:
            return None
        at = sum(len(record) for record in records[: entries.index(entry)])
        return at, at + len(entry.record())

    def end_with(self, old: Entry, new: Entry, directory_at: int) -> bytes:
        """Returns directory and end records as they stand at `directory_at`, with one entry in the place of another."""
        if self.known:
            begin, end = self.known
            directory = self.directory[:begin] + new.record() + self.directory[end:]
            return self._ended(directory, self.count, directory_at)
        return self.end([new if one == old else one for one in self.entries], directory_at)

    @property
    def behind(self) -> int:
        """The first byte after the archive's end; what stands there is no part of it."""
        return self.end_at + _END.size + len(self.comment)

    def end(self, entries: Sequence[Entry], directory_at: int) -> bytes:
        """Returns the directory of `entries` and the records that end the archive, as they stand at `directory_at`."""
        return self._ended(b"".join(entry.record() for entry in entries), len(entries), directory_at)

    def _ended(self, directory: bytes, count: int, directory_at: int) -> bytes:
        size = len(directory)
        wide = self.zip64 or count >= FULL16 or size >= FULL32 or directory_at >= FULL32
        records = b""
        if wide:
            at = directory_at + size
            records = _END64.pack(END64, _END64.size - 12, *self.made_by64, 0, 0, count, count, size, directory_at)
            records += _LOCATOR64.pack(LOCATOR64, 0, at, 1)
        short = min(count, FULL16)
        records += _END.pack(END, 0, 0, short, short, min(size, FULL32), min(directory_at, FULL32), len(self.comment))
        return directory + records + self.comment


def read_archive(file: FileBytes, directory: bytes, at: int, known: tuple[int, int] | None) -> Archive:
    """Returns the archive of a directory that the scan has read, at `at`; `known` as in Archive.

    Raises DamagedFileError for what the scan refuses, UnrepairableError for what no writer of torch files does.
    """
    end_at, fields = _end_record(file)
    _, _, _, _, count, size, offset, comment_bytes = fields
    comment = file.read(end_at + _END.size, comment_bytes)
    wide = _end64(file, end_at)
    if wide is not None:
        count, size, offset = wide[7], wide[8], wide[9]
    if (size, offset) != (len(directory), at):
        raise UnrepairableError("its directory reads differently from two sides")
    made_by = (wide[2], wide[3]) if wide else (45, 45)
    archive = Archive(directory, at, end_at, comment, wide is not None, made_by, count, known)
    if known is None:
        _check(archive, read_members(directory, count, at))
    return archive


def _check(archive: Archive, members: Sequence[ZipMember]) -> None:
    entries = archive.entries
    if [(entry.offset, entry.stored, entry.size) for entry in entries] != [
        (member.offset, member.stored, member.size) for member in members
    ]:
        raise UnrepairableError("its directory reads differently from two sides")
    if len({entry.name for entry in entries}) != len(entries):
        raise UnrepairableError("two members have the same name")


def _end_record(file: FileBytes) -> tuple[int, tuple[Any, ...]]:
    tail = file.tail(WIDE_TAIL_BYTES)
    at = tail.rfind(END, 0, len(tail) - _END.size + len(END))
    if at < 0:
        raise UnrepairableError("no end record")
    end_at = file.size - len(tail) + at
    return end_at, _END.unpack_from(tail, at)


def _end64(file: FileBytes, end_at: int) -> tuple[Any, ...] | None:
    if end_at < _LOCATOR64.size:
        return None
    magic, _, at64, _ = _LOCATOR64.unpack(file.read(end_at - _LOCATOR64.size, _LOCATOR64.size))
    if magic != LOCATOR64 or at64 + _END64.size > end_at:
        return None
    fields = _END64.unpack(file.read(at64, _END64.size))
    return fields if fields[0] == END64 else None


def _entries(directory: bytes) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    at = 0
    while at < len(directory):
        if len(directory) - at < _CENTRAL.size:
            raise UnrepairableError("its directory reads differently from two sides")
        fields = _CENTRAL.unpack_from(directory, at)
        name_at = at + _CENTRAL.size
        extra_at, comment_at = name_at + fields[9], name_at + fields[9] + fields[10]
        end = comment_at + fields[11]
        size, stored, offset, extra = _wide(directory[extra_at:comment_at], fields[8], fields[7], fields[15])
        entries.append(
            Entry(
                name=directory[name_at:extra_at],
                made_by=fields[1],
                needs=fields[2],
                flags=fields[3],
                method=fields[4],
                time=fields[5],
                crc=fields[6],
                stored=stored,
                size=size,
                extra=extra,
                comment=directory[comment_at:end],
                disk=fields[12],
                attributes=(fields[13], fields[14]),
                offset=offset,
            )
        )
        at = end
    return tuple(entries)


def _wide(extra: bytes, size: int, stored: int, offset: int) -> tuple[int, int, int, bytes]:
    """Returns size, stored size, offset with the zip64 field's numbers in place, and the other extra fields."""
    kept, at, values = b"", 0, [size, stored, offset]
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        if tag != ZIP64_EXTRA:
            kept += extra[at : at + 4 + length]
        else:
            numbers = [number for (number,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length // 8 * 8])]
            values = [numbers.pop(0) if value == FULL32 and numbers else value for value in values]
        at += 4 + length
    return values[0], values[1], values[2], kept


def local_header(entry: Entry, padding: bytes = b"") -> bytes:
    """Returns the header that stands before a member's data, sizes and CRC in it; `padding` is its extra field."""
    fixed = LOCAL_HEADER.pack(
        LOCAL,
        entry.needs,
        entry.flags,
        entry.method,
        entry.time,
        entry.crc,
        entry.stored,
        entry.size,
        len(entry.name),
        len(padding),
    )
    return fixed + entry.name + padding


def data_at(file: FileBytes, entry: Entry) -> int:
    """Returns where a member's data begin, by its local header. Raises DamagedFileError where that is none."""
    magic, *_, name_bytes, extra_bytes = LOCAL_HEADER.unpack(file.read(entry.offset, LOCAL_HEADER.size))
    begin = entry.offset + LOCAL_HEADER.size + int(name_bytes) + int(extra_bytes)
    if magic != LOCAL or name_bytes != len(entry.name) or begin + entry.stored > file.size:
        raise DamagedFileError(f"the local header at byte {entry.offset} does not fit its member")
    return begin


def moved(entry: Entry, *, crc: int, size: int, offset: int) -> Entry:
    """Returns the entry of a member written anew: stored, its CRC and sizes in its local header."""
    flags = entry.flags & ~HAS_DESCRIPTOR
    return replace(entry, flags=flags, method=0, crc=crc, stored=size, size=size, offset=offset)


def read_small(file: FileBytes, entry: Entry) -> bytes:
    """Returns the content of a stored member of at most 64 bytes, nothing for another one."""
    small = entry.method == STORED and entry.size <= 64
    return file.read(data_at(file, entry), entry.size) if small else b""
