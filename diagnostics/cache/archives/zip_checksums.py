"""Reads every byte of a zip archive against the CRC-32 of its directory, for the formats that are zip archives."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from diagnostics.cache.archives.zip_directory import STORED, Member, content_offset, read_directory
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import EXAMPLES, FileScan, Problem

CHUNK_BYTES = 1 << 20


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


def _problem(file: FileBytes, member: Member) -> Problem | None:
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


def _read(file: FileBytes, member: Member) -> tuple[int, int]:
    checksum, size = 0, 0
    for content in _contents(file, member):
        checksum, size = zlib.crc32(content, checksum), size + len(content)
        if size > member.size:
            raise DamagedFileError(f"holds more than the {member.size} bytes it claims")
    if size < member.size:
        raise DamagedFileError(f"holds {size} bytes and claims {member.size}")
    return checksum, size


def _contents(file: FileBytes, member: Member) -> Iterator[bytes]:
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
