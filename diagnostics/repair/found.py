"""Which files a command line of paths, folders and patterns names: each once, with its place below the others."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnostics.errors import DoctorError, UsageError

# A folder with this file holds what was moved away: nothing in it is looked at, unless it is named itself.
NOTE = "QUARANTINE.md"


@dataclass(frozen=True, slots=True)
class Roots:
    """Absolute paths of files and folders, none inside another; `base` is where relative names begin."""

    paths: tuple[str, ...]
    base: str

    def relative(self, path: str) -> str:
        """Returns the name of a file below `base`; used for every copy, so that two files never meet."""
        return os.path.relpath(path, self.base)

    def that_exist(self) -> Roots:
        """Returns the same without files that were moved away meanwhile."""
        return Roots(tuple(path for path in self.paths if os.path.lexists(path)), self.base)

    def folder_of(self, path: str) -> str:
        """Returns the folder that was named for this file: the one given, or that of the file that was given."""
        return next((root for root in self.paths if path.startswith(f"{root}/")), os.path.dirname(path))  # noqa: PTH120 - strings throughout


def find_roots(paths: Sequence[Path]) -> Roots:
    """Returns what `paths` name, patterns resolved. Raises UsageError for one that does not exist."""
    if any(not str(path).strip() for path in paths):
        raise UsageError("one of the paths is empty: a variable that is not set?", hint="ups-doctor fix-cache cache")
    named = {os.path.abspath(match): None for path in paths for match in _existing(path)}  # noqa: PTH100 - links stay links
    kept = tuple(_outermost(named))
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in kept]  # noqa: PTH112, PTH120 - strings throughout
    return Roots(paths=kept, base=os.path.commonpath(folders))


def _existing(path: Path) -> list[str]:
    if os.path.lexists(path):
        return [str(path)]
    matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []  # noqa: PTH207 - absolute patterns
    if not matches:
        raise UsageError(f"{path}: no such file or folder", hint=f"check the spelling: ls -l {path.parent}")
    return matches


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    """Leaves out what lies inside a folder that was named, too."""
    named = set(paths)
    for path in named if len(named) == 1 else sorted(named):
        parts = path.split("/")
        if not any("/".join(parts[:count]) in named for count in range(1, len(parts))):
            yield path


def files_below(roots: Roots) -> Iterator[str]:
    """Yields every file, folder by folder in the order of names; links to folders are not followed."""
    for root in roots.paths:
        if not os.path.isdir(root):  # noqa: PTH112 - a Path for each file costs a third of the scan
            yield root
            continue
        for folder, folders, names in os.walk(root, onerror=_refused):
            if NOTE in names and folder != root:
                folders.clear()
                continue
            folders.sort()
            yield from (f"{folder}/{name}" for name in sorted(names))


def _refused(error: OSError) -> None:
    raise DoctorError(
        f"cannot list {error.filename}: {error.strerror}", hint=f"check who owns it: ls -ld {error.filename}"
    )
