"""Writes the relay's copies of a job's output into the record, without secrets.

The relay runs it as a program, so that this also happens where the supervisor was killed. On stdin, for each copy: a
line of JSON [name, bytes of the head, bytes of the tail, bytes left out between], then the bytes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import BinaryIO

from diagnostics.core import redaction
from diagnostics.core.files import write_private
from diagnostics.core.line_clipping import after_cut, before_cut, clipped_lines

MAX_BYTES = 3 << 20  # of all processes' own copies together: secrets are looked for in each of them
LEAST_BYTES = 4 << 10  # of each one
_NAME = re.compile(r"all\.txt|\d+-\d+\.std(out|err)\.txt")


def keep(stream: BinaryIO, folder: Path) -> None:
    """Reads all copies from `stream` and writes them into `folder`. Raises OSError."""
    copies = []
    while line := stream.readline():
        name, head, tail, left_out = json.loads(line)
        copies.append((name, stream.read(head), stream.read(tail), left_out))
    most = max(LEAST_BYTES, MAX_BYTES // max(1, len(copies)))
    for name, head, tail, left_out in copies:
        if _NAME.fullmatch(name):
            whole = (head, tail, left_out) if name == "all.txt" else _shortened(head, tail, left_out, most)
            write_private(folder / name, _text(*whole))


def _shortened(head: bytes, tail: bytes, left_out: int, most: int) -> tuple[bytes, bytes, int]:
    """Returns at most `most` bytes: a quarter from the beginning, the rest from the end."""
    if len(head) + len(tail) <= most:
        return head, tail, left_out
    start, end = head[: most // 4], (tail or head)[-(most * 3 // 4) :]
    return start, end, left_out + len(head) + len(tail) - len(start) - len(end)


def _text(head: bytes, tail: bytes, left_out: int) -> str:
    if not left_out:
        return redaction.text(clipped_lines((head + tail).decode("utf-8", "replace")))
    first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
    return redaction.text(f"{before_cut(first)}\n... {left_out} bytes left out ...\n{after_cut(last)}")


if __name__ == "__main__":
    keep(sys.stdin.buffer, Path(sys.argv[1]))
