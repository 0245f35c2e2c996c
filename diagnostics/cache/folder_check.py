"""Checks across the files of a folder: what no single file shows (gaps, duplicates, mixed types).

One check a file in `folder_checks/`. Files come folder by folder, in the order of their names; memory must stay flat
however many they are, so a check keeps counts and a bounded number of examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from diagnostics.cache.file_scan import FileScan, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossProblem:
    """Something wrong with a folder's files together; `path` is the folder or the first file that shows it."""

    path: str
    problem: Problem
    files: int  # how many files it concerns


class Across(Protocol):
    """One run of a check."""

    def add(self, scan: FileScan) -> None:
        """Takes the next file."""

    def finish(self) -> Iterator[AcrossProblem]:
        """Yields what the files show together."""


class AcrossCheck(Protocol):
    """The contract of a plugin of `diagnostics/cache/folder_checks/`."""

    CODE: str
    NAME: str
    # MEANINGS, REMEDIES: dict[str, str], optional: words for its problems; "N of M cache files MEANING".

    def begin(self) -> Across:
        """Starts one run."""
