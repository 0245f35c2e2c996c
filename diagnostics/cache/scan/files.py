"""The files below some paths, one by one in the order of their folders and names, whatever lies among them.

Links to folders are named and not followed: they may lead round in a circle, or out to a whole disk. A folder
that cannot be listed is told of in its place, and the walk goes on.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.formats.unreadable import unlisted
from diagnostics.core.errors import UsageError
from diagnostics.core.files import is_folder

QUARANTINE_NOTE = "QUARANTINE.md"  # a folder with this file holds what fix-cache moved out of the way
QUARANTINED = "a quarantine of fix-cache (name it to scan it)"
LINKED_FOLDER = "a link to a folder (name it to scan it)"


def existing(paths: Sequence[Path]) -> list[str]:
    """Returns the files and folders that paths and globs name. Raises UsageError for one that names nothing."""
    return list(dict.fromkeys(root for path in paths for root in _existing(path)))


def _existing(path: Path) -> list[str]:
    if os.path.lexists(path):
        return [str(path)]
    matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []  # noqa: PTH207 - absolute patterns
    if not matches:
        raise UsageError(f"{path}: no such file or folder", hint=f"check the spelling: ls -l {path.parent}")
    return matches


def counted(paths: Sequence[Path], *, within_s: float) -> int | None:
    """Returns how many files `walk` will come to; None where telling takes longer than that."""
    until, count = time.monotonic() + within_s, 0
    for count, _ in enumerate(walk(existing(paths)), 1):  # noqa: B007 - used after the loop
        if time.monotonic() > until:
            return None
    return count


def walk(roots: Iterable[str]) -> Iterator[str | FileScan]:
    """Yields each file's path; a scan in its place where a folder was not entered."""
    for root in roots:
        if os.path.isdir(root):  # noqa: PTH112 - a Path for each file costs a third of the scan
            yield from _below(root)
        else:
            yield root


def _below(root: str) -> Iterator[str | FileScan]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            files, folders, links = _listed(folder)
        except FileNotFoundError:
            if folder == root:
                raise
            continue  # removed since its parent was listed: as if it had never been there
        except OSError as error:
            yield unlisted(folder, error)
            continue
        if QUARANTINE_NOTE in files and folder != root:
            yield FileScan(path=folder, size=0, skipped=QUARANTINED)
            continue
        prefix = folder if folder.endswith("/") else f"{folder}/"
        yield from (f"{prefix}{name}" for name in files)
        yield from (FileScan(path=f"{prefix}{name}", size=0, skipped=LINKED_FOLDER) for name in links)
        waiting.extend(f"{prefix}{name}" for name in reversed(folders))


def _listed(folder: str) -> tuple[list[str], list[str], list[str]]:
    """Returns the names of its files, its folders, and its links to folders, sorted."""
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            kind = files if not is_folder(entry) else links if entry.is_symlink() else folders
            kind.append(entry.name)
    for names in (files, folders, links):
        names.sort()
    return files, folders, links
