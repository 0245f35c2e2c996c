"""Writes files of reports: a folder is never used twice, and a file has its name only when it is complete."""

from __future__ import annotations

import os
import time
from pathlib import Path


def new_folder(parent: Path, kind: str = "preflight", now: float | None = None) -> Path:
    """Makes and returns `parent/<time>-<kind>`, with a number behind it where that exists. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    number = 1
    while True:
        folder = parent / (f"{stamp}-{kind}" if number == 1 else f"{stamp}-{kind}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return folder


def write_whole(path: Path, text: str) -> None:
    """Writes a file that only its owner may read; a reader sees the old one or the new one. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
