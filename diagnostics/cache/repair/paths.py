"""Which files a command line of paths, folders and patterns names: each once, with its place below the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.files import existing, walk


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
    named = {os.path.abspath(match): None for match in existing(paths)}  # noqa: PTH100 - links stay links
    kept = tuple(_outermost(named))
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in kept]  # noqa: PTH112, PTH120 - strings throughout
    return Roots(paths=kept, base=os.path.commonpath(folders))


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    """Leaves out what lies inside a folder that was named, too."""
    named = set(paths)
    for path in named if len(named) == 1 else sorted(named):
        parts = path.split("/")
        if not any("/".join(parts[:count]) in named for count in range(1, len(parts))):
            yield path


def files_below(roots: Roots, aside: list[FileScan]) -> Iterator[str]:
    """Yields every file, folder by folder; what was not entered (links, quarantines, closed folders) goes `aside`."""
    for item in walk(roots.paths):
        if isinstance(item, FileScan):
            aside.append(item)
        else:
            yield item
