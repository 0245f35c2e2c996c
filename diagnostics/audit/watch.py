"""When files of an audit change: their times and sizes are looked at again and again, as every file system allows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from diagnostics.audit.files import found_paths

EVERY_S = 0.5
State = dict[Path, tuple[int, int]]


def state(paths: Sequence[Path], excluded: Callable[[str], bool]) -> State:
    """Returns time and size of each file that an audit of these paths reads."""
    found: State = {}
    for path in found_paths(paths, excluded=excluded):
        try:
            status = path.stat()
        except OSError:
            continue  # it was there a moment ago: that it is gone is a change
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def wait(paths: Sequence[Path], before: State, excluded: Callable[[str], bool], every_s: float = EVERY_S) -> list[Path]:
    """Returns the files that are new, other or gone, as soon as there are any; an editor may write several at once."""
    pause = threading.Event()
    while True:
        pause.wait(every_s)
        now = state(paths, excluded)
        if now != before:
            return sorted(path for path in now.keys() | before.keys() if now.get(path) != before.get(path))
