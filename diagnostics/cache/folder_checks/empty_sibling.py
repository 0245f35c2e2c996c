"""A file of zero bytes among cache files of the same naming.

What it does: reports empty files that are named like cache files of the same folder but for their numbers
(`sample_00017` among `sample_00016` and `sample_00018`), whatever they end with. An empty file whose ending
promises a format is cut off by itself; marks like `_SUCCESS` are meant to be empty and are left alone.

Why it matters: a full disk or a kill right after `open(path, "wb")` leaves the name without the data. A count
of the files is right, and the loader fails when it comes to this one.

Bad:

    -rw-r--r-- 12582912 sample_00016.bin
    -rw-r--r--        0 sample_00017.bin

Good:

    -rw-r--r-- 12582912 sample_00016.bin
    -rw-r--r-- 12582912 sample_00017.bin

Fix: check the free space (`df -h`), remove the empty files and build them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.folder_checks.by_folder import ByFolder

CODE = "C155"
NAME = "empty-sibling"
MEANINGS = {NAME: "{files} file(s) are empty among cache files of the same naming"}
REMEDIES = {NAME: "check the free space (df -h), remove them and build them again"}
MAX_NAMINGS = 64  # of one folder
EXAMPLES = 5
_NUMBER = re.compile(r"\d+")


def begin() -> Across:
    """Starts one run."""
    return ByFolder(FolderNames)


@dataclass(slots=True)
class FolderNames:
    """How the cache files of one folder are named, and which empty ones there are."""

    folder: str
    namings: set[str] = field(default_factory=set)  # of cache files
    empty: dict[str, list[str]] = field(default_factory=dict)  # first names, by naming
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, scan: FileScan, name: str) -> None:
        """Notes one name, its numbers left out."""
        if scan.skipped not in ("", "empty"):
            return
        naming = _NUMBER.sub("#", name)
        if scan.skipped and "#" in naming and len(self.counts) < MAX_NAMINGS:
            self.counts[naming] = self.counts.get(naming, 0) + 1
            first = self.empty.setdefault(naming, [])
            if len(first) < EXAMPLES:
                first.append(name)
        elif not scan.skipped and len(self.namings) < MAX_NAMINGS:
            self.namings.add(naming)

    def close(self) -> Iterator[AcrossProblem]:
        """Yields one problem a naming that cache files and empty files share."""
        for naming in sorted(self.namings & self.empty.keys()):
            first, count = self.empty[naming], self.counts[naming]
            more = f" and {count - len(first)} more" if count > len(first) else ""
            problem = Problem(
                name=NAME, observed=f"0 bytes: {', '.join(first)}{more}", expected="data, as its siblings have"
            )
            path = f"{self.folder}/{first[0]}" if self.folder else first[0]
            yield AcrossProblem(path=path, problem=problem, files=count)
