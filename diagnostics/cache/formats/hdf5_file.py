"""An HDF5 file (.h5, .hdf5, .nc, .mat) that is cut off or that its writer never closed.

What it does: reads the superblock, the first hundred bytes that every HDF5 file has, and compares the end
that it names with the file's size, the mark of an open writer, and whether the root group is where it should
be. Data sets are not looked into: that needs the HDF5 library.

Why it matters: HDF5 keeps what it writes in memory until the file is closed or flushed. After a kill the file
has its full size, yet cannot be opened, or opens without the data sets that came after the last flush.

Bad:

    file = h5py.File("solutions.h5", "w"); file["u"] = u; train()     # killed in train(): nothing was closed

Good:

    with h5py.File("solutions.h5", "w", libver="latest") as file:
        file["u"] = u

Fix: make the file again. `h5clear -s FILE` takes the mark of an open writer away; what was not flushed stays lost.

Bob Jenkins' checksum lookup3 (hashlittle), with which HDF5 guards its superblock and headers.

Source: http://burtleburtle.net/bob/c/lookup3.c, public domain. For short data only: it is plain Python.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.cache.file_bytes import HEAD_BYTES, DamagedFileError, FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.core.findings import Severity

MASK = 0xFFFFFFFF
MIX = ((4, 0), (6, 1), (8, 2), (16, 0), (19, 1), (4, 2))
FINAL = (14, 11, 25, 16, 4, 14, 24)

CODE = "C106"
NAME = "hdf5-file"
FORMAT = "hdf5"
ENDINGS = (".h5", ".hdf5", ".he5", ".nc4")
MEANINGS = {"not-closed": "were never closed by their writer, which still runs or was killed"}
REMEDIES = {
    "not-closed": "wait for the writer, or make these files again; h5clear -s FILE takes the mark away, "
    "what was not flushed stays lost",
}
# Format: HDF5 File Format Specification 3.0, section II.A. The superblock stands at 0, 512, 1024, 2048, ...
MAGIC = b"\x89HDF\r\n\x1a\n"
PLACES = (0, 512, 1024, 2048)
OPEN_FOR_WRITING, OPEN_FOR_READERS_TOO = 1, 4
DRIVERS = (b"NCSAfami", b"NCSAmult")  # one file of a set: the end that it names is that of the set
PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Superblock:
    """What the beginning of a file says; addresses are absolute, `driver` is None where the file stands alone."""

    version: int
    flags: int
    end: int
    root: int
    driver: int | None


def recognise(head: bytes, tail: bytes) -> bool:
    """Has HDF5's signature at one of the places where its readers look first."""
    # Written out: this is asked of every file.
    return MAGIC in (head[:8], head[512:520], head[1024:1032], head[2048:2056])


def scan(file: FileBytes) -> FileScan:
    """Returns what is wrong with the file; never raises for what the file contains."""
    try:
        problems = tuple(_problems(file, _superblock(file)))
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        problems = (Problem(name=name, observed=str(error), expected="a whole HDF5 file", place="superblock"),)
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=problems)


def _superblock(file: FileBytes) -> Superblock:
    head = file.head(HEAD_BYTES)
    at = next(place for place in PLACES if head.startswith(MAGIC, place))
    version = file.read(at + 8, 1)[0]
    match version:
        case 0 | 1:
            width = file.read(at + 13, 1)[0]
            flags = int.from_bytes(file.read(at + 20, 4), "little")
            base, _, end, driver, _, root = _addresses(file, at + (24 if version == 0 else 28), width, 6)
        case 2 | 3:
            width, _, flags = file.read(at + 9, 3)
            base, driver, end, root = _addresses(file, at + 12, width, 4)
            _check(file.read(at, 16 + 4 * width))
        case _:
            raise DamagedFileError(f"a superblock of version {version}; 0 to 3 are known")
    # Readers shift all addresses by as much as the superblock was moved, and ignore the base that is written.
    unset = (1 << 8 * width) - 1
    return Superblock(version, flags, end + at - base, root + at, None if driver == unset else driver + at)


def _addresses(file: FileBytes, at: int, width: int, count: int) -> list[int]:
    if width not in (2, 4, 8, 16, 32):
        raise DamagedFileError(f"addresses of {width} bytes")
    data = file.read(at, width * count)
    return [int.from_bytes(data[begin : begin + width], "little") for begin in range(0, len(data), width)]


def _check(superblock: bytes) -> None:
    written, found = int.from_bytes(superblock[-4:], "little"), lookup3(superblock[:-4])
    if written != found:
        raise DamagedFileError(f"a superblock of checksum {found:08x} where {written:08x} was written")


def _problems(file: FileBytes, block: Superblock) -> Iterator[Problem]:
    if _is_one_of_a_set(file, block):
        return
    whole = 0 <= file.size - block.end <= PAGE_BYTES and _has_root(file, block)
    # Up to version 2 no reader heeds the mark, and old libraries left it, and some bytes, in files that they closed.
    if block.flags & OPEN_FOR_WRITING and not (whole and block.version < 3):
        yield _not_closed(file, block)
        return
    if file.size < block.end:
        yield Problem(
            name="truncated-file",
            observed=f"{file.size} bytes",
            expected=f"{block.end} bytes, the end that the superblock names",
            place=f"byte {file.size}",
        )
    elif not _has_root(file, block):
        yield Problem(
            name="corrupt-file",
            observed="the root group is not there",
            expected="its object header",
            place=f"byte {block.root}",
        )
    elif file.size - block.end > PAGE_BYTES:
        yield Problem(
            name="trailing-data",
            observed=f"{file.size} bytes, {file.size - block.end} of them after the end",
            expected=f"{block.end} bytes, the end that the superblock names",
            place=f"byte {block.end}",
            severity=Severity.WARNING,
        )


def _not_closed(file: FileBytes, block: Superblock) -> Problem:
    opens = _still_opens(file, block)
    return Problem(
        name="not-closed",
        observed=f"marked as open for writing, {file.size} bytes; it {opens or 'cannot be opened'}",
        expected="closed by its writer",
        place="superblock",
        severity=Severity.WARNING if opens else Severity.ERROR,
    )


def _still_opens(file: FileBytes, block: Superblock) -> str:
    """Returns how a marked file can be read all the same, empty where it cannot."""
    if file.size < block.end or not _has_root(file, block):
        return ""
    if block.version < 3:  # readers heed the mark from version 3 on
        return f"opens as it was at its last flush, {block.end} bytes"
    return "opens with swmr=True only" if block.flags & OPEN_FOR_READERS_TOO else ""


def _has_root(file: FileBytes, block: Superblock) -> bool:
    try:
        start = file.read(block.root, 4)
    except DamagedFileError:
        return False
    # Object headers of version 2 begin with a signature, those of version 1 with that number and a zero.
    return start == b"OHDR" or start[:2] == b"\1\0"


def _is_one_of_a_set(file: FileBytes, block: Superblock) -> bool:
    # Version 2 and 3 keep the driver in an object header of a few messages.
    if block.driver is None or block.driver >= file.size:
        return False
    start = file.read(block.driver, min(512, file.size - block.driver))
    return any(name in start for name in DRIVERS)


def lookup3(data: bytes) -> int:
    """Returns the checksum of `data`, 32 bits."""
    state = [(0xDEADBEEF + len(data)) & MASK] * 3
    if not data:
        return state[2]
    words = struct.unpack(f"<{(len(data) + 11) // 12 * 3}L", data + b"\0" * (-len(data) % 12))
    for at in range(0, len(words), 3):
        state = [(value + word) & MASK for value, word in zip(state, words[at : at + 3], strict=True)]
        if at + 3 < len(words):
            _mix(state)
    return _final(state)


def _mix(state: list[int]) -> None:
    for shift, at in MIX:
        first, last = (at + 1) % 3, (at + 2) % 3
        state[at] = (state[at] - state[last]) & MASK ^ _rotated(state[last], shift)
        state[last] = (state[last] + state[first]) & MASK


def _final(state: list[int]) -> int:
    for step, shift in enumerate(FINAL):
        at, by = (2 + step) % 3, (1 + step) % 3
        state[at] = ((state[at] ^ state[by]) - _rotated(state[by], shift)) & MASK
    return state[2]


def _rotated(value: int, shift: int) -> int:
    return (value << shift | value >> (32 - shift)) & MASK
