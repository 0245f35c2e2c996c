"""A file whose tensors have another type, rank, shape or set of keys than the rest of its series.

What it does: compares the tensors of files that are named alike (`sample_#.pt`) within one folder, key by
key. Where nearly all agree and a few do not (one file, or up to one in 50), the few are named. An axis that
takes four sizes or more varies by design and is not compared; nor is the shorter last file of a series.

Why it matters: one sample of another type or size stops the collation of a batch hours into an epoch, in
whichever worker meets it; one saved as float64, or in another order of axes, may be trained on unnoticed.

Bad:

    torch.save({"latent": latent.double()}, "sample_00017.pt")      # 1,999 others are float32

Good:

    torch.save({"latent": latent.float()}, "sample_00017.pt")

Fix: make the files that are named again, with the code that made the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.cache.file_scan import MAX_FACTS, FileScan, Problem, TensorFact
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.folder_checks.by_folder import ByFolder, SeenFiles
from diagnostics.cache.folder_checks.file_names import pattern
from diagnostics.cache.folder_checks.key_types import KeyTypes, Layout, Oddity, few, layout_of, shown
from diagnostics.core.findings import Severity

CODE = "C151"
NAME = "mixed-cache"
MEANINGS = {NAME: "differ in type, shape or keys from the rest of their series"}
REMEDIES = {NAME: "make these files again with the code that made the others"}
MAX_SERIES = 64  # of one folder; files beyond are not compared
MAX_LAYOUTS = 256  # kept before they are taken apart by key
MAX_KEYS = 1024
SHOWN_KEYS = 3


def begin() -> Across:
    """Starts one run."""
    return ByFolder(FolderTypes)


@dataclass(slots=True)
class Series:
    """The files of one format and one pattern of names."""

    files: int = 0
    last: str = ""  # by its number
    partial: bool = False  # some file has more tensors than are described
    layouts: dict[Layout, SeenFiles] = field(default_factory=dict)
    facts: tuple[TensorFact, ...] | None = None  # of the file before, and how many files have its layout:
    alike: SeenFiles = field(default_factory=SeenFiles)
    keys: dict[str, KeyTypes] = field(default_factory=dict)
    key_sets: dict[frozenset[str], SeenFiles] = field(default_factory=dict)

    def add(self, scan: FileScan, name: str) -> None:
        """Takes the next file."""
        self.files += 1
        if len(name) > len(self.last) or (len(name) == len(self.last) and name > self.last):
            self.last = name
        if scan.facts is not self.facts:  # files of equal pickles share their facts
            self._change(scan.facts)
        self.alike.note(name)

    def _change(self, facts: tuple[TensorFact, ...]) -> None:
        self.facts = facts
        self.partial |= len(facts) >= MAX_FACTS
        if len(self.layouts) > MAX_LAYOUTS:
            self.take_apart()
        self.alike = self.layouts.setdefault(layout_of(facts), SeenFiles())

    def take_apart(self) -> None:
        """Counts the layouts seen so far by key, and forgets them."""
        for layout, seen in self.layouts.items():
            keys = frozenset(key for key, _, _ in layout)
            if len(self.key_sets) < MAX_LAYOUTS or keys in self.key_sets:
                self.key_sets.setdefault(keys, SeenFiles()).add(seen)
            for key, dtype, shape in layout:
                if len(self.keys) < MAX_KEYS or key in self.keys:
                    self.keys.setdefault(key, KeyTypes()).add(dtype, shape, seen)
        self.layouts.clear()

    def lacking(self, key: str) -> SeenFiles | None:
        """Returns the few files without a key that the others have; None where they are many or none."""
        absent = self.files - self.keys[key].files
        # A list's length may differ from file to file.
        if self.partial or "[" in key or not few(absent, self.files) or len(self.key_sets) >= MAX_LAYOUTS:
            return None
        total = SeenFiles()
        for keys, seen in self.key_sets.items():
            if key not in keys:
                total.add(seen)
        return total


@dataclass(slots=True)
class FolderTypes:
    """The series of one folder."""

    folder: str
    series: dict[tuple[str, str], Series] = field(default_factory=dict)

    def add(self, scan: FileScan, name: str) -> None:
        """Takes the next file; one that could not be read whole says nothing of its types."""
        if scan.skipped or (scan.problems and not scan.facts):
            return
        series = (scan.format, pattern(name))
        if series in self.series or len(self.series) < MAX_SERIES:
            self.series.setdefault(series, Series()).add(scan, name)

    def close(self) -> Iterator[AcrossProblem]:
        """Yields the files that differ, one problem for those that differ in the same files."""
        for series in self.series.values():
            series.take_apart()
            if len(series.keys) < MAX_KEYS:
                yield from self._different(series)
                yield from self._lacking(series)

    def _different(self, series: Series) -> Iterator[AcrossProblem]:
        together: dict[tuple[str, ...], list[tuple[str, Oddity]]] = {}
        for key, types in series.keys.items():
            for odd in types.odd(series.last):
                together.setdefault(tuple(odd.seen.names), []).append((key, odd))
        for names, odds in together.items():
            observed = "; ".join(f"{_key(key)}{shown(odd.found)}" for key, odd in odds[:SHOWN_KEYS])
            expected = "; ".join(f"{_key(key)}{shown(odd.usual)}" for key, odd in odds[:SHOWN_KEYS])
            more = f" and {len(odds) - SHOWN_KEYS} more keys" if len(odds) > SHOWN_KEYS else ""
            seen, usual = odds[0][1].seen, odds[0][1].usual_files
            yield self._problem(names[0], seen, f"{observed}{more}", f"{expected}, as in {usual:,} files")

    def _lacking(self, series: Series) -> Iterator[AcrossProblem]:
        together: dict[tuple[str, ...], tuple[SeenFiles, list[str]]] = {}
        for key in series.keys:
            seen = series.lacking(key)
            if seen is not None:
                together.setdefault(tuple(seen.names), (seen, []))[1].append(key)
        for names, (seen, keys) in together.items():
            missing = ", ".join(repr(key) for key in keys[:SHOWN_KEYS])
            more = f" and {len(keys) - SHOWN_KEYS} more" if len(keys) > SHOWN_KEYS else ""
            held = series.files - seen.files
            yield self._problem(names[0], seen, f"no {missing}{more}", f"the keys that {held:,} files have")

    def _problem(self, name: str, seen: SeenFiles, observed: str, expected: str) -> AcrossProblem:
        files = f"{seen.shown()}: " if seen.files > 1 else ""
        problem = Problem(name=NAME, observed=f"{files}{observed}", expected=expected, severity=Severity.WARNING)
        return AcrossProblem(path=f"{self.folder}/{name}" if self.folder else name, problem=problem, files=seen.files)


def _key(key: str) -> str:
    return f"{key} is " if key else ""
