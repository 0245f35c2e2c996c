"""Repairs one file again and again, each time stopped at the next call into the system: killed, or by an error.

Usage: interrupted.py FILE FOLDER append|copy|compact kill|ERRNO

Call n of a fresh child is the n-th of `os` that `apply` makes; a call that writes is stopped before and halfway.
FOLDER gets N.pt, what became of the file; printed is one JSON list: the call, how the child ended, what lies beside.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from diagnostics.cache.repair.apply import apply
from diagnostics.cache.repair.look import repair_of
from diagnostics.cache.scan.one_file import formats
from diagnostics.core.errors import DoctorError

CALLS = [
    "close",
    "copy_file_range",
    "fchmod",
    "fchown",
    "fstat",
    "fsync",
    "ftruncate",
    "lseek",
    "lstat",
    "open",
    "pread",
    "pwrite",
    "read",
    "replace",
    "sendfile",
    "setxattr",
    "stat",
    "unlink",
    "utime",
    "write",
]
WRITING = {"write": 1, "pwrite": 1, "copy_file_range": 2}  # which argument is the data or their size
MAX_STEPS = 200


class Interrupter:
    """Counts calls and stops at the one that was chosen."""

    def __init__(self, at: int, how: str, note: int) -> None:
        self.at, self.how, self.note, self.count = at, how, note, 0

    def wrap(self, name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self.step(name)
            if name in WRITING and self.due(f"{name}, halfway"):
                real(*halved(name, arguments), **options)
                self.stop()
            return real(*arguments, **options)

        return call

    def step(self, name: str) -> None:
        if self.due(name):
            self.stop()

    def due(self, name: str) -> bool:
        self.count += 1
        if self.count == self.at:
            REAL_WRITE(self.note, name.encode())
        return self.count == self.at

    def stop(self) -> None:
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(getattr(errno, self.how), os.strerror(getattr(errno, self.how)))


REAL_WRITE = os.write


def halved(name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    which = WRITING[name]
    value = arguments[which]
    half = value // 2 if isinstance(value, int) else value[: len(value) // 2]
    return (*arguments[:which], half, *arguments[which + 1 :])


def child(path: Path, way: str, at: int, how: str, note: int) -> int:
    patch = repair_of(str(path), compact=way == "compact")
    assert patch is not None
    if way != "append":
        patch = replace(patch, tail=b"")
    interrupter = Interrupter(at, how, note)
    for name in CALLS:
        setattr(os, name, interrupter.wrap(name))
    try:
        applied = apply(path, patch)
    except DoctorError as error:
        REAL_WRITE(note, f"|{error}".encode())
        return 1
    assert applied.way == ("append" if way == "append" else "copy"), applied
    return 0


def main(source: Path, folder: Path, way: str, how: str) -> list[dict[str, object]]:
    formats()  # imported once, before the forks
    steps: list[dict[str, object]] = []
    for at in range(1, MAX_STEPS):
        room = folder / f"room{at}"
        room.mkdir(parents=True)
        path = room / "sample.pt"
        shutil.copy2(source, path)
        (room / "neighbour.txt").write_text("kept")
        reading, writing = os.pipe()
        if (pid := os.fork()) == 0:
            code = 99
            try:
                code = child(path, way, at, how, writing)
            finally:
                os._exit(code)
        os.close(writing)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with os.fdopen(reading) as notes:
            call, _, said = notes.read().partition("|")
        beside = sorted(found.name for found in room.iterdir() if found != path)
        path.rename(folder / f"{at}.pt")
        steps.append({"at": at, "call": call, "status": status, "said": said, "beside": beside})
        if not call:
            return steps
    raise AssertionError("more steps than a repair can have")


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])))
