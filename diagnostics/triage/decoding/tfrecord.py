"""TFRecord, the form of TensorBoard's event files: length, its checksum, data, its checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

HEAD = struct.Struct("<QI")
TAIL_BYTES = 4
LARGEST_RECORD = 64 << 20


class EventReader:
    """Yields the data of each record; `problem` says afterwards why the last was not whole.

    Checksums (CRC32C, which Python lacks) are not compared: a length beyond the file's end is what a cut leaves.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.problem = ""

    def __iter__(self) -> Iterator[bytes]:
        while head := self.file.read(HEAD.size):
            if len(head) < HEAD.size:
                self.problem = "the last record is cut off"
                return
            size, _ = HEAD.unpack(head)
            if size > LARGEST_RECORD:
                self.problem = "a record is larger than 64 MiB"
                return
            data = self.file.read(size + TAIL_BYTES)
            if len(data) < size + TAIL_BYTES:
                self.problem = "the last record is cut off"
                return
            yield data[:size]
