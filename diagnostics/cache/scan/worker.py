"""What a scanning process does: reads paths from its pipe, writes their scans, ends when the pipe closes."""

from __future__ import annotations

import os
import pickle
import struct
import time
from collections.abc import Sequence
from typing import Any

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.scan.one_file import formats, scan_file

Item = str | FileScan  # a file to scan, or what is known of it already
LENGTH = struct.Struct("<Q")
READ_BYTES = 1 << 20


class WorkerDiedError(Exception):
    """A scanning process ended before it answered; the message is a sentence."""


def scan_item(item: Item, *, deep: bool) -> FileScan:
    """Returns the scan of one file; a fault of the scanner is told of as a problem of that file."""
    if isinstance(item, FileScan):
        return item
    try:
        return scan_file(item, deep=deep)
    except Exception as error:  # one file must not lose what was found in all the others
        problem = Problem(name="scan-crashed", observed=f"{type(error).__name__}: {error}"[:200], expected="a scan")
        return FileScan(path=item, size=0, code="C121", problems=(problem,))


def serve() -> None:
    """Answers (deep, files) with (seconds, scans) until the parent closes its end."""
    source, drain = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    try:
        formats()  # imports them, so that the first files are not waited for
        write_message(drain, _scanned((), deep=False))
        while True:
            deep, items = read_message(source)
            write_message(drain, _scanned(items, deep=deep))
    except (EOFError, BrokenPipeError):
        return


def _scanned(items: Sequence[Item], *, deep: bool) -> tuple[float, list[FileScan]]:
    began = time.monotonic()
    scans = [scan_item(item, deep=deep) for item in items]
    return time.monotonic() - began, scans


def write_message(pipe: int, value: object) -> None:
    """Writes one value. Raises BrokenPipeError where the reader has gone."""
    data = pickle.dumps(value, protocol=5)
    view = memoryview(LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(pipe, view) :]


def read_message(pipe: int) -> Any:
    """Returns the next value. Raises EOFError where the writer has gone."""
    (length,) = LENGTH.unpack(_exactly(pipe, LENGTH.size))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301 - from our own process, never from a scanned file


def _exactly(pipe: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        more = os.read(pipe, min(length - len(data), READ_BYTES))
        if not more:
            raise EOFError
        data += more
    return bytes(data)
