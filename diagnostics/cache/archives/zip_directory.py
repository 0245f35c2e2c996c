"""A zip archive's central directory, read from the file's end as torch reads it; offsets are checked.

Numbers and layout: PKWARE APPNOTE 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3. Python's zipfile is not used
because it trusts sizes, reads members whole and accepts archives that torch's reader refuses.

Reads every byte of a zip archive against the CRC-32 of its directory, for the formats that are zip archives.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.cache.file_bytes import TAIL_BYTES, WIDE_TAIL_BYTES, DamagedFileError, FileBytes
from diagnostics.cache.file_scan import EXAMPLES, FileScan, Problem

CHUNK_BYTES = 1 << 20

LOCAL, CENTRAL, END, END64, LOCATOR64 = b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\6", b"PK\6\7"
_END = struct.Struct("<4s4H2LH")
_LOCATOR64 = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL_BYTES = 30
FULL16, FULL32 = 0xFFFF, 0xFFFFFFFF
MAX_DIRECTORY_BYTES = 32 << 20  # about 350,000 members, 150 MiB in memory
STORED, DEFLATED = 0, 8


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One member; `offset` is where its local header begins, sizes are in bytes; torch may write 0 as `crc`."""

    name: str
    method: int
    flags: int
    stored: int
    size: int
    offset: int
    crc: int = 0


def read_directory(file: FileBytes) -> list[ZipMember]:
    """Returns the members by the directory at the file's end.

    Raises DamagedFileError: truncated where no end record is found, else saying which offset lies.
    """
    count, size, offset = directory_place(file)
    return read_members(file.read(offset, size), count, offset)


def directory_place(file: FileBytes) -> tuple[int, int, int]:
    """Returns how many entries the directory has, its bytes, and where it begins. Raises DamagedFileError."""
    count, size, offset = _find_end(file)
    if size > MAX_DIRECTORY_BYTES:
        raise DamagedFileError(f"the central directory claims {size:,} bytes", place="end record")
    if offset + size > file.size:
        raise DamagedFileError(
            f"the central directory claims bytes {offset} to {offset + size}, the file has {file.size}",
            place="end record",
        )
    return count, size, offset


def read_members(directory: bytes, count: int, offset: int) -> list[ZipMember]:
    """Returns the members of a directory that begins at `offset`. Raises DamagedFileError."""
    members = _members(directory)
    if len(members) != count:
        raise DamagedFileError(f"the end record counts {count} members, the directory holds {len(members)}")
    _check_offsets(members, offset)
    return members


def _find_end(file: FileBytes) -> tuple[int, int, int]:
    for length in (TAIL_BYTES, WIDE_TAIL_BYTES):
        tail = file.tail(length)
        at = tail.rfind(END, 0, len(tail) - _END.size + len(END))
        if at >= 0:
            return _end_record(file, tail[at : at + _END.size], file.size - len(tail) + at)
        if len(tail) == file.size:
            break
    raise DamagedFileError(f"no end record in the last {len(tail):,} bytes: the file was cut off", truncated=True)


def _end_record(file: FileBytes, record: bytes, at: int) -> tuple[int, int, int]:
    _, _, _, _, count, size, offset, _ = _END.unpack(record)
    locator = file.read(at - _LOCATOR64.size, _LOCATOR64.size) if at >= _LOCATOR64.size else b""
    # Torch's reader and Python's take the zip64 record wherever a locator stands, needed or not.
    if not locator.startswith(LOCATOR64):
        if count != FULL16 and size != FULL32 and offset != FULL32:
            return count, size, offset
        raise DamagedFileError("the zip64 locator is missing", place=f"byte {at}")
    _, _, at64, _ = _LOCATOR64.unpack(locator)
    if at64 + _END64.size > at:
        raise DamagedFileError(f"the zip64 end record is said to lie at byte {at64}", place=f"byte {at}")
    fields = _END64.unpack(file.read(at64, _END64.size))
    if fields[0] != END64:
        raise DamagedFileError("the zip64 end record is not where the locator says", place=f"byte {at64}")
    return fields[7], fields[8], fields[9]


def _members(directory: bytes) -> list[ZipMember]:
    members: list[ZipMember] = []
    at = 0
    while at < len(directory):
        if len(directory) - at < _CENTRAL.size or directory[at : at + 4] != CENTRAL:
            raise DamagedFileError(
                f"entry {len(members)} of the central directory is damaged", place=f"directory byte {at}"
            )
        fields = _CENTRAL.unpack_from(directory, at)
        name_at = at + _CENTRAL.size
        extra_at = name_at + fields[10]
        name = directory[name_at:extra_at].decode("utf-8", "replace")
        extra = directory[extra_at : extra_at + fields[11]]
        stored, size, offset = fields[8], fields[9], fields[16]
        if FULL32 in (stored, size, offset):
            size, stored, offset = _zip64_sizes(extra, size, stored, offset)
        members.append(ZipMember(name, fields[4], fields[3], stored, size, offset, fields[7]))
        at = extra_at + fields[11] + fields[12]
    if at > len(directory):
        raise DamagedFileError("the last entry of the central directory exceeds it", place=f"directory byte {at}")
    return members


def _zip64_sizes(extra: bytes, size: int, stored: int, offset: int) -> tuple[int, int, int]:
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        if tag == 1:
            values = [value for (value,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length // 8 * 8])]
            wide = [values.pop(0) if field == FULL32 and values else field for field in (size, stored, offset)]
            return wide[0], wide[1], wide[2]
        at += 4 + length
    return size, stored, offset


def _check_offsets(members: list[ZipMember], directory_at: int) -> None:
    for member in members:
        # The local name and extra field lie between; they are at least as long as the shortest header.
        if member.offset + _LOCAL_BYTES + member.stored > directory_at:
            raise DamagedFileError(
                f"member {member.name!r} claims bytes {member.offset} to "
                f"{member.offset + _LOCAL_BYTES + member.stored}, the directory begins at {directory_at}",
                place=member.name,
            )


def read_member(file: FileBytes, member: ZipMember, limit: int) -> bytes:
    """Returns a member's content, inflated if need be, never more than `limit` bytes.

    Raises DamagedFileError for a lying offset, an unknown method, encryption, or a size over the limit.
    """
    if max(member.size, member.stored) > limit:
        raise DamagedFileError(f"claims {max(member.size, member.stored):,} bytes, over {limit:,}", place=member.name)
    data = file.read(content_offset(file, member), member.stored)
    return data if member.method == STORED else _inflate(data, member)


def content_offset(file: FileBytes, member: ZipMember) -> int:
    """Returns where a member's bytes begin, by its local header.

    Raises DamagedFileError for a lying offset, an unknown method or encryption.
    """
    if member.flags & 1 or member.method not in (STORED, DEFLATED):
        raise DamagedFileError(
            f"method {member.method}, flags {member.flags:#x}: torch cannot read it", place=member.name
        )
    header = file.read(member.offset, _LOCAL_BYTES)
    if header[:4] != LOCAL:
        raise DamagedFileError(f"no local header at byte {member.offset}", place=member.name)
    name_bytes, extra_bytes = struct.unpack_from("<2H", header, 26)
    return member.offset + _LOCAL_BYTES + int(name_bytes) + int(extra_bytes)


def _inflate(data: bytes, member: ZipMember) -> bytes:
    try:
        # One byte more than promised is enough to catch a bomb.
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, member.size + 1)
    except zlib.error as error:
        raise DamagedFileError(f"does not inflate: {error}", place=member.name) from None
    if len(content) != member.size:
        raise DamagedFileError(f"inflates to other than the {member.size} bytes it claims", place=member.name)
    return content


def first_name(head: bytes) -> bytes:
    """Returns the name of the member with which an archive begins, by its local header."""
    return head[_LOCAL_BYTES : _LOCAL_BYTES + int.from_bytes(head[26:28], "little")]


def deep(file: FileBytes, scan: FileScan) -> list[Problem]:
    """Returns the first EXAMPLES members that hold other bytes than were written; memory stays at a few MiB.

    A member without a checksum (0: `torch.serialization.set_crc32_options(False)`) is only inflated.
    """
    try:
        members = read_directory(file)
    except DamagedFileError:
        return []  # the scan has said so
    problems: list[Problem] = []
    if sum(member.stored for member in members) > file.size:
        # Without this, members that share bytes would make a small file cost hours.
        return [Problem(name="corrupt-file", observed="members share the same bytes", expected="a byte in one member")]
    for member in members:
        if (problem := _problem(file, member)) is not None:
            problems.append(problem)
        if len(problems) == EXAMPLES:
            break
    return problems


def _problem(file: FileBytes, member: ZipMember) -> Problem | None:
    try:
        checksum, size = _read(file, member)
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        return Problem(name=name, observed=str(error), expected="a whole member", place=member.name)
    except zlib.error as error:
        observed = f"does not inflate: {error}"
        return Problem(name="checksum-mismatch", observed=observed, expected="whole data", place=member.name)
    if member.crc and checksum != member.crc:
        observed, expected = f"CRC-32 {checksum:08x} of {size} bytes", f"{member.crc:08x}, as written"
        return Problem(name="checksum-mismatch", observed=observed, expected=expected, place=member.name)
    return None


def _read(file: FileBytes, member: ZipMember) -> tuple[int, int]:
    checksum, size = 0, 0
    for content in _contents(file, member):
        checksum, size = zlib.crc32(content, checksum), size + len(content)
        if size > member.size:
            raise DamagedFileError(f"holds more than the {member.size} bytes it claims")
    if size < member.size:
        raise DamagedFileError(f"holds {size} bytes and claims {member.size}")
    return checksum, size


def _contents(file: FileBytes, member: ZipMember) -> Iterator[bytes]:
    at = content_offset(file, member)
    inflate = None if member.method == STORED else zlib.decompressobj(-zlib.MAX_WBITS)
    for begin in range(at, at + member.stored, CHUNK_BYTES):
        data = file.read(begin, min(CHUNK_BYTES, at + member.stored - begin))
        if inflate is None:
            yield data
        elif inflate.eof:
            return  # what follows is kept in memory by zlib and means nothing
        else:
            yield from _inflated(inflate, data)


def _inflated(inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    content = inflate.decompress(data, CHUNK_BYTES)
    yield content
    # A full chunk: more may wait inside for room although no input is left.
    while inflate.unconsumed_tail or len(content) == CHUNK_BYTES:
        content = inflate.decompress(inflate.unconsumed_tail, CHUNK_BYTES)
        yield content
