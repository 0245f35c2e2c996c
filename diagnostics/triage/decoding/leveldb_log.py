"""Records of a log in LevelDB's form, as W&B writes its offline runs: blocks of 32 KiB, checksums, records in parts."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

BLOCK = 1 << 15
HEAD = struct.Struct("<IHB")  # checksum, length, type
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
LARGEST_RECORD = 64 << 20


class LogReader:
    """Yields records; `problem` says afterwards why the last one was not whole, "" where the file ends in order."""

    def __init__(self, file: BinaryIO, *, header_bytes: int) -> None:
        self.file = file
        self.at = header_bytes
        self.problem = ""

    def __iter__(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        for kind, data in self._pieces():
            if kind in (FULL, FIRST):
                parts = []
            parts.append(data)
            if sum(map(len, parts)) > LARGEST_RECORD:
                self.problem = "a record is larger than 64 MiB"
                return
            if kind in (FULL, LAST):
                yield b"".join(parts)
                parts = []
        if parts and not self.problem:
            self.problem = "the last record is cut off"

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        self.file.seek(0)
        start = self.at
        while block := self.file.read(BLOCK):
            at = start
            while at + HEAD.size <= len(block):
                checksum, size, kind = HEAD.unpack_from(block, at)
                data = block[at + HEAD.size : at + HEAD.size + size]
                if not kind and not size:  # the rest of a block that had no room for a head
                    break
                if len(data) < size:
                    self.problem = "the last record is cut off"
                    return
                if zlib.crc32(bytes([kind]) + data) != checksum:
                    self.problem = "a record's checksum is wrong"
                    return
                yield kind, data
                at += HEAD.size + size
            start = 0
