"""Missing numbers in a dense series of file names, and numbers that are not padded alike.

What it does: finds files of one folder whose names differ in one number (`sample_00017.pt`) and names the
numbers that are missing between the least and the greatest. Only dense series count: at least ten files, at
least nine tenths of all numbers, a few holes. Numbers that another series or a neighbouring folder holds
(`train/` and `val/` of one numbering) are not missing.

Why it matters: a run that was killed, a full disk or a copy that was cut off leaves holes; a loader that
goes by the number of files then reads past them, ends in the wrong sample, or stops at the first hole.
Numbers of different widths sort in another order by name than by number.

Bad:

    sample_00016.pt  sample_00018.pt

Good:

    sample_00016.pt  sample_00017.pt  sample_00018.pt

Fix: make the missing files, or list the samples in a manifest instead of counting files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.folder_checks.by_folder import ByFolder
from diagnostics.cache.folder_checks.number_series import NumberSeries
from diagnostics.core.findings import Severity

CODE = "C152"
NAME = "index-gaps"
WIDTHS = "mixed-widths"
MEANINGS = {
    NAME: "numbers missing in series of files: {files}",
    WIDTHS: "have numbers of different widths in their names",
}
REMEDIES = {
    NAME: "make the missing files, or list the samples in a manifest instead of counting files",
    WIDTHS: "pad all numbers alike, or sort the files by number: by name they come in another order",
}
MIN_FILES = 10
DENSE = 0.9  # of all numbers between the least and the greatest
# A random tenth that is left out is a split of the data; a run that was cut short leaves few holes.
MIN_HOLES, HOLES_PER_FILE = 8, 0.01
MAX_POSITIONS = 3  # numbers of one name that may be the one that varies, from the right
MAX_DIGITS = 12  # more are a time stamp or a hash
MAX_SUFFIXES = 64  # of one prefix, open at a time
MAX_KEPT = 256  # series of a folder that are kept to compare with
MAX_NEIGHBOURS = 64  # folders that are looked into for what is missing
SHOWN = 5

_NUMBER = re.compile(r"[0-9]+")


def begin() -> Across:
    """Starts one run."""
    return ByFolder(FolderGaps)


@dataclass(slots=True)
class FolderGaps:
    """The series of one folder. Names come sorted, so those of one prefix follow one another."""

    folder: str
    open: dict[str, dict[str, NumberSeries]] = field(default_factory=dict)  # by prefix, then by suffix
    closed: list[NumberSeries] = field(default_factory=list)
    holed: list[NumberSeries] = field(default_factory=list)
    only: NumberSeries | None = None  # the one series of the file before, where its name has one number

    def add(self, scan: FileScan, name: str) -> None:
        """Takes the next file; one that is damaged is no gap, and files that are no cache make no series."""
        if scan.skipped:
            return
        only = self.only
        if only is not None and name.startswith(only.prefix) and name.endswith(only.suffix):
            digits = name[len(only.prefix) : len(name) - len(only.suffix)]
            if digits.isdecimal() and digits.isascii() and len(digits) <= MAX_DIGITS:
                only.add(digits, name)
                return
        self._find(name)

    def _find(self, name: str) -> None:
        for prefix in [prefix for prefix in self.open if not name.startswith(prefix)]:
            self._shut(prefix)
        stem_end = name.rfind(".") if "." in name else len(name)
        numbers = [*_NUMBER.finditer(name, 0, stem_end)]
        for match in numbers[-MAX_POSITIONS:]:
            if match.end() - match.start() <= MAX_DIGITS:
                self._note(name, match.start(), match.end())
        self.only = None
        if len(numbers) == len(self.open) == 1:
            self.only = self.open.get(name[: numbers[0].start()], {}).get(name[numbers[0].end() :])

    def _note(self, name: str, begin: int, end: int) -> None:
        prefix, suffix = name[:begin], name[end:]
        series = self.open.setdefault(prefix, {})
        if suffix not in series:
            if len(series) >= MAX_SUFFIXES:
                return
            series[suffix] = NumberSeries(prefix, suffix)
        series[suffix].add(name[begin:end], name)

    def _shut(self, prefix: str) -> None:
        for series in self.open.pop(prefix).values():
            if _dense(series) and len(self.holed) < MAX_KEPT:
                self.holed.append(series)
            elif series.files > 1 and len(self.closed) < MAX_KEPT:
                self.closed.append(series)

    def close(self) -> Iterator[AcrossProblem]:
        """Yields the gaps of each dense series, and numbers of different widths."""
        for prefix in list(self.open):
            self._shut(prefix)
        told: set[str] = set()
        for series in self.holed:
            holes = self._holes(series)
            first = series.name_of(holes[0][0]) if holes else ""
            if holes and first not in told and not self._elsewhere(series, holes):
                told.add(first)
                yield self._gaps(series, holes)
            if apart := series.widths_apart():
                yield self._widths(series, *apart)

    def _holes(self, series: NumberSeries) -> list[tuple[int, int]]:
        """Returns the gaps; a file that is there but was not asked about is none."""
        holes = [*series.numbers.holes()]
        if len(holes) > max(MIN_HOLES, HOLES_PER_FILE * series.files):
            return []
        return [hole for hole in holes if not os.path.lexists(os.path.join(self.folder, series.name_of(hole[0])))]  # noqa: PTH118 - strings

    def _elsewhere(self, series: NumberSeries, holes: list[tuple[int, int]]) -> bool:
        """Whether the missing numbers are another part of the same numbering."""
        missing = [number for hole in holes[:SHOWN] for number in hole]
        others = [other for other in (*self.closed, *self.holed) if other.prefix != series.prefix]
        for other in others:
            same = other.suffix == series.suffix and not _overlap(series, other)
            if same and (other.numbers.scattered or all(number in other.numbers for number in missing)):
                return True
        return any(self._holds(folder, series, missing) for folder in _neighbours(self.folder))

    def _holds(self, folder: str, series: NumberSeries, missing: list[int]) -> bool:
        # A copy of this folder holds its own files too; the other part of a split does not.
        own = os.path.join(folder, series.name_of(series.numbers.begins[0]))  # noqa: PTH118 - strings
        held = (os.path.lexists(os.path.join(folder, series.name_of(number))) for number in missing)  # noqa: PTH118
        return not os.path.lexists(own) and any(held)

    def _gaps(self, series: NumberSeries, holes: list[tuple[int, int]]) -> AcrossProblem:
        missing = sum(end - begin + 1 for begin, end in holes)
        shown = ", ".join(_range(series, *hole) for hole in holes[:SHOWN])
        more = f" and {len(holes) - SHOWN} more gaps" if len(holes) > SHOWN else ""
        low, high = series.numbers.begins[0], series.numbers.ends[-1]
        return self._problem(
            NAME,
            f"{missing} of {series.numbers.span} numbers missing: {shown}{more}",
            f"{series.name_of(low)} to {series.name_of(high)} without a gap",
            missing,
        )

    def _widths(self, series: NumberSeries, one: str, other: str) -> AcrossProblem:
        observed, expected = f"{one} and {other} are not padded alike", "one width: names then sort as numbers"
        return self._problem(WIDTHS, observed, expected, series.files)

    def _problem(self, name: str, observed: str, expected: str, files: int) -> AcrossProblem:
        problem = Problem(name=name, observed=observed, expected=expected, severity=Severity.WARNING)
        return AcrossProblem(path=self.folder or ".", problem=problem, files=files)


def _dense(series: NumberSeries) -> bool:
    numbers = series.numbers
    dense = series.files >= MIN_FILES and not numbers.scattered and numbers.count >= DENSE * numbers.span
    return dense and (len(numbers.begins) > 1 or series.widths_apart() is not None)


def _overlap(one: NumberSeries, other: NumberSeries) -> bool:
    # Two parts of one numbering share no number; the first of either is enough to tell copies apart.
    return other.numbers.begins[0] in one.numbers or one.numbers.begins[0] in other.numbers


def _neighbours(folder: str) -> list[str]:
    here = os.path.realpath(folder or ".")
    try:
        with os.scandir(os.path.dirname(here)) as entries:  # noqa: PTH120 - strings
            folders = [entry.path for entry in entries if entry.is_dir() and entry.path != here]
    except OSError:
        return []
    return folders[:MAX_NEIGHBOURS]


def _range(series: NumberSeries, begin: int, end: int) -> str:
    first = series.name_of(begin)
    return first if begin == end else f"{first} to {series.name_of(end)}"
