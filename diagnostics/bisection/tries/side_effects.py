"""What the user's code does beside building a model: said before the first try, and seen after it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from diagnostics.bisection.case import Source
from diagnostics.bisection.place import TRIES
from diagnostics.core.redaction import argv

MOST_FILES = 20_000
SHOWN = 5
NOT_LOOKED_INTO = {"__pycache__", "node_modules", "site-packages"}


def what_will_run(source: Source) -> str:
    """Returns one sentence that says whose code each try runs, and what comes of it."""
    if source.capture:
        if source.inputs:
            return (
                f"each try builds the captured model anew and runs {source.inputs}: "
                "what both write, download or send happens again"
            )
        return "each try builds the captured model anew: what its constructor writes, downloads or sends happens again"
    named = [source.factory, source.inputs] if source.factory else [shlex.join(argv(source.adapter))]
    run = " and ".join(filter(None, named))
    return f"each try runs {run} in processes of its own: what that writes, downloads or sends happens again each time"


class FolderState:
    """The files of a folder with size and time of change.

    Left out are hidden folders, `but`, other bisections, and the files into which our own output goes.
    """

    def __init__(self, folder: Path, but: Path) -> None:
        self._folder, self._but = folder, but
        self._before = self._now()

    def written(self) -> tuple[str, ...]:
        """Returns the files that are new or changed since then, relative to the folder."""
        now = self._now() if self._before is not None else None
        if now is None or self._before is None:
            return ()
        return tuple(sorted(name for name, state in now.items() if self._before.get(name) != state))

    def _now(self) -> dict[str, tuple[int, int]] | None:
        """Returns size and time of each file, None where there are too many to look at."""
        found: dict[str, tuple[int, int]] = {}
        ours = _own_outputs()
        for path in _files(self._folder, self._but):
            if len(found) >= MOST_FILES:
                return None
            try:
                state = path.lstat()
            except OSError:  # gone meanwhile
                continue
            if (state.st_dev, state.st_ino) not in ours:
                found[str(path.relative_to(self._folder))] = (state.st_size, state.st_mtime_ns)
        return found


def _own_outputs() -> set[tuple[int, int]]:
    """Returns device and inode of what stdout and stderr go to, as with `2> log.txt`."""
    found = set()
    for fd in (1, 2):
        with suppress(OSError):  # closed
            state = os.fstat(fd)
            found.add((state.st_dev, state.st_ino))
    return found


def written_line(names: Iterable[str]) -> str:
    """Returns what the first try wrote in words, "" where it wrote nothing."""
    written = list(names)
    if not written:
        return ""
    shown = ", ".join(written[:SHOWN]) + (", ..." if len(written) > SHOWN else "")
    files = f"{len(written)} file{'s' * (len(written) > 1)}"
    return f"the first try wrote {files} in the current folder ({shown}); the others will, too"


def _files(folder: Path, but: Path) -> Iterator[Path]:
    for inside, folders, names in os.walk(folder):
        place = Path(inside)
        folders[:] = [name for name in folders if not _is_left_out(place / name, but)]
        yield from (place / name for name in names)


def _is_left_out(folder: Path, but: Path) -> bool:
    odd = folder.name.startswith(".") or folder.name in NOT_LOOKED_INTO
    return odd or folder == but or os.path.isfile(folder / TRIES)  # noqa: PTH113 - pathlib's raises where it may not look
