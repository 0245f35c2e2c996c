"""Runs a check one folder at a time: files come folder by folder, so only the present folder's state is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.folder_check import AcrossProblem

MAX_PROBLEMS = 100  # of one check and scan; a hostile tree has a problem in each of a million folders
EXAMPLES = 3  # files that are named for one oddity


class FolderCheck(Protocol):
    """What a check knows of one folder."""

    def add(self, scan: FileScan, name: str) -> None:
        """Takes the next file; `name` is its path without the folder."""

    def close(self) -> Iterator[AcrossProblem]:
        """Yields what the folder's files show together."""


@dataclass(slots=True)
class ByFolder:
    """One run of a check; `begin` starts it on a folder."""

    begin: Callable[[str], FolderCheck]
    folder: str = ""
    check: FolderCheck | None = None
    found: list[AcrossProblem] = field(default_factory=list)

    def add(self, scan: FileScan) -> None:
        """Takes the next file; one of another folder closes the one before."""
        folder, _, name = scan.path.rpartition("/")
        if self.check is None or folder != self.folder:
            self._close()
            self.folder, self.check = folder, self.begin(folder)
        self.check.add(scan, name)

    def finish(self) -> Iterator[AcrossProblem]:
        """Yields what all folders showed."""
        self._close()
        yield from self.found

    def _close(self) -> None:
        if self.check is not None:
            room = MAX_PROBLEMS - len(self.found)
            self.found += [problem for problem, _ in zip(self.check.close(), range(room), strict=False)]
            self.check = None


@dataclass(slots=True)
class SeenFiles:
    """How many files, and the names of the first few."""

    files: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, other: SeenFiles) -> None:
        """Takes the files of another in."""
        self.files += other.files
        self.names = [*self.names, *other.names][:EXAMPLES]

    def note(self, name: str) -> None:
        """Counts one file."""
        self.files += 1
        if len(self.names) < EXAMPLES:
            self.names.append(name)

    def shown(self) -> str:
        """Returns the names, and how many are not named."""
        more = self.files - len(self.names)
        return ", ".join(self.names) + (f" and {more:,} more" if more else "")
