"""File systems without room, or that nobody may write to: real ones, mounted for one test."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BLOCK = 4096


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of `size` bytes at `folder`, which is made. Skips where mounting is not allowed."""
    folder.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip(f"mounting needs root: sudo {' '.join(asked)}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def written_without_room_for_the_page(tmp_path: Path, write: Callable[[Path], str]) -> tuple[str, str]:
    """Has a report written where there is room, and again on a disk that has room for all of it but report.html.

    Returns what was said each time, with PLACE for the disk.
    """
    roomy = tmp_path / "roomy"
    roomy.mkdir()
    said = write(roomy).replace(str(roomy), "PLACE")
    files = sorted(path for path in roomy.rglob("*") if path.is_file())
    room = sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in files if path.name != "report.html")
    with disk(tmp_path / "small", room) as small:
        told = write(small).replace(str(small), "PLACE")
        there = sorted(path.name for path in small.rglob("*") if path.is_file())
    assert there == [path.name for path in files if path.name != "report.html"]
    assert len(there) == len(files) - 1
    return said, told
