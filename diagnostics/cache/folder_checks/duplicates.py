"""Two samples of different names that hold the same data.

What it does: compares the checksums that the files hold of their own data, and their sizes; no data is read
but three blocks of each pair, to be sure. Links to one file are no duplicates, nor are files of the same
name in two folders (a copy of a folder), names without a number (`best.pt`, a copy of some epoch) and
files of little data (labels, masks of a few bytes).

Why it matters: the same sample twice is trained on twice as often; once in `train` and once in `val` it makes
the validation error a lie. A loop that saves one variable under all names is seen nowhere else.

Bad:

    for index, _ in enumerate(fields):
        torch.save({"latent": latent}, f"sample_{index:05d}.pt")       # the same latent each time

Good:

    for index, field in enumerate(fields):
        torch.save({"latent": encode(field)}, f"sample_{index:05d}.pt")

Fix: look at the first pair; make the second again, or remove it where the data are repeated by design.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.folder_checks.file_names import pattern
from diagnostics.cache.folder_checks.fingerprints import MAX_FINGERPRINTS, Fingerprints
from diagnostics.core.findings import Severity

CODE = "C153"
NAME = "duplicate-files"
MEANINGS = {NAME: "hold the same data as another sample"}
REMEDIES = {NAME: "look at the first pair; make one of them again, unless the data are repeated by design"}
MIN_BYTES = 4096  # of tensors; less is often equal by chance
MAX_PAIRS = 100  # told one by one
BLOCK_BYTES = 4096


def begin() -> Across:
    """Starts one run."""
    return Duplicates()


@dataclass(slots=True)
class Duplicates:
    """The contents of all files so far."""

    seen: Fingerprints = field(default_factory=Fingerprints)
    files: int = 0
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def add(self, scan: FileScan) -> None:
        """Takes the next file; one without a checksum of its own, or that is damaged, is left out."""
        if scan.skipped or not scan.content or (scan.problems and not scan.devices) or _data_bytes(scan) < MIN_BYTES:
            return
        first = self.seen.first((scan.format, scan.size, scan.content), scan.path)
        if first and _two_samples(first, scan.path) and _same_blocks(first, scan.path, scan.size):
            self.files += 1
            if len(self.pairs) < MAX_PAIRS:
                self.pairs.append((first, scan.path))

    def finish(self) -> Iterator[AcrossProblem]:
        """Yields one problem for each of the first pairs, and one for all others."""
        stopped = f"; files after the first {MAX_FINGERPRINTS:,} were not compared" if self.seen.full else ""
        for first, other in self.pairs[: MAX_PAIRS - 1]:
            yield _problem(other, f"the same data as {first}{stopped}", 1)
        if len(self.pairs) == MAX_PAIRS:
            first, other = self.pairs[-1]
            rest = self.files - MAX_PAIRS + 1
            more = f", and {rest - 1} more files like it" if rest > 1 else ""
            yield _problem(other, f"the same data as {first}{more}{stopped}", rest)


def _problem(path: str, observed: str, files: int) -> AcrossProblem:
    expected = "different samples hold different data"
    problem = Problem(name=NAME, observed=observed, expected=expected, severity=Severity.WARNING)
    return AcrossProblem(path=path, problem=problem, files=files)


def _data_bytes(scan: FileScan) -> int:
    size = 0
    for tally in scan.devices.values():
        size += tally.bytes
    return size or scan.size


def _two_samples(one: str, other: str) -> bool:
    names = [path.rpartition("/")[2] for path in (one, other)]
    return names[0] != names[1] and all("#" in pattern(name) for name in names)


def _same_blocks(one: str, other: str, size: int) -> bool:
    """Whether two files are not one by links, and blocks at the same places are equal.

    A checksum of 32 bits alone would find pairs by chance in 100,000 files. Data begin at the same place where
    the names, which archives repeat, are of one length.
    """
    try:
        with Path(one).open("rb") as a, Path(other).open("rb") as b:
            if os.path.sameopenfile(a.fileno(), b.fileno()):
                return False
            if len(one.rpartition("/")[2]) != len(other.rpartition("/")[2]):
                return True
            places = (size // 4, size // 2, size * 3 // 4)
            return all(os.pread(a.fileno(), BLOCK_BYTES, at) == os.pread(b.fileno(), BLOCK_BYTES, at) for at in places)
    except OSError:
        return False
