from __future__ import annotations

import struct
from pathlib import Path

from diagnostics.cache.archives.zip_directory import CENTRAL, END, END64
from diagnostics.cache.scan.one_file import scan_file


def with_two_directories(shown: bytes, hidden: bytes) -> bytes:
    """Returns an archive whose end record names the members of `shown`, and whose zip64 record those of `hidden`."""
    place = shown.index(CENTRAL)
    bodies, end = shown[:place], shown[shown.index(END) :]
    hidden_directory = bytearray(hidden[hidden.index(CENTRAL) : hidden.index(END64)])
    at, count = 0, 0
    while (at := hidden_directory.find(CENTRAL, at)) >= 0:
        (offset,) = struct.unpack_from("<L", hidden_directory, at + 42)
        struct.pack_into("<L", hidden_directory, at + 42, offset + place)
        at, count = at + 4, count + 1
    base = len(bodies) + hidden.index(CENTRAL)
    directory = shown[place : shown.index(END64)]
    at64 = base + len(hidden_directory) + len(directory)
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(hidden_directory), base)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at64, 1)
    end = end[:16] + struct.pack("<L", base + len(hidden_directory)) + end[20:]
    body = bodies + hidden[: hidden.index(CENTRAL)] + bytes(hidden_directory) + directory
    return body + wide + locator + end


def test_the_directory_that_torch_reads_is_the_one_that_is_scanned(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.pt"
    path.write_bytes(
        with_two_directories((torch_files / "clean.pt").read_bytes(), (torch_files / "unsafe.pt").read_bytes())
    )
    problems = scan_file(str(path)).problems
    assert "unsafe-pickle" in [problem.name for problem in problems], problems
