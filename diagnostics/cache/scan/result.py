"""What a scan of many cache files found: counts by device, key, folder, type and format, and findings with proof."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from diagnostics.cache.file_scan import HARMLESS_DEVICES, OTHERS, FileScan, Tally, TensorFact
from diagnostics.cache.scan.findings import AcrossRun, ProblemKinds
from diagnostics.core.findings import Finding, Severity
from diagnostics.core.stop_signal import interrupted_exit

KEPT_FILES = 1000  # bad files whose details are kept; all are counted
MAX_KEYS = 256
MAX_FOLDERS = 256
Use = TypeVar("Use")


@dataclass(slots=True)
class KeyUse:
    """How often one tensor carries the tag of a foreign device."""

    files: int = 0
    bytes: int = 0
    devices: dict[str, int] = field(default_factory=dict)  # tensors by tag


@dataclass(slots=True)
class FolderUse:
    """Cache files straight in one folder."""

    files: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """The result. `files` counts all that were looked at, `recognised` those of a known format."""

    paths: tuple[str, ...]  # as the user named them
    roots: tuple[str, ...]  # the files and folders that they name
    files: int
    recognised: int
    bad: int  # files with a problem of any severity
    failed: int  # files with a problem at error level
    bytes: int  # of the recognised files
    failed_bytes: int
    tensors: int
    formats: dict[str, int]
    devices: dict[str, Tally]
    device_files: dict[str, int]
    dtypes: dict[str, Tally]
    keys: dict[str, KeyUse]  # tensors that carry a foreign device, by the key a program reaches them with
    folders: dict[str, FolderUse]
    skipped: dict[str, int]  # files by the reason why they were left out
    findings: tuple[Finding, ...]
    bad_files: tuple[FileScan, ...]  # the first KEPT_FILES of them
    seconds: float
    interrupted: bool
    stopped: str = ""  # a sentence where the scan ended early by itself

    @property
    def exit_code(self) -> int:
        """0 clean, 1 something is wrong, 2 no cache file was found, 3 ended early by itself, 130 or 143 interrupted."""
        if self.interrupted:
            return interrupted_exit()
        if any(finding.severity is Severity.ERROR for finding in self.findings):
            return 1
        if self.stopped:
            return 3
        return 0 if self.recognised else 2


@dataclass(slots=True)
class ScanCounter:
    """Adds scans up as they come."""

    files: int = 0
    recognised: int = 0
    bad: int = 0
    failed: int = 0
    bytes: int = 0
    failed_bytes: int = 0
    tensors: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    devices: dict[str, Tally] = field(default_factory=dict)
    device_files: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, Tally] = field(default_factory=dict)
    keys: dict[str, KeyUse] = field(default_factory=dict)
    folders: dict[str, FolderUse] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    kinds: ProblemKinds = field(default_factory=ProblemKinds)
    across: AcrossRun = field(default_factory=AcrossRun)
    bad_files: list[FileScan] = field(default_factory=list)
    alike: tuple[TensorFact, ...] = ()  # of the latest bad files
    alike_files: int = 0

    def add(self, scan: FileScan) -> None:
        """Counts one more file."""
        self.files += 1
        self.across.add(scan)
        if scan.skipped:
            self.skipped[scan.skipped] = self.skipped.get(scan.skipped, 0) + 1
        else:
            self._add_recognised(scan)
        if scan.problems:
            self.kinds.add(scan)
            if len(self.bad_files) < KEPT_FILES:
                self.bad_files.append(scan)

    def _add_recognised(self, scan: FileScan) -> None:
        self.recognised += 1
        self.bytes += scan.size
        self.tensors += scan.tensors
        self.formats[scan.format] = self.formats.get(scan.format, 0) + 1
        _add_tallies(self.devices, scan.devices)
        _add_tallies(self.dtypes, scan.dtypes)
        for device in scan.devices:
            self.device_files[device] = self.device_files.get(device, 0) + 1
        folder = _bounded(self.folders, os.path.dirname(scan.path), MAX_FOLDERS, FolderUse)  # noqa: PTH120 - a Path for each file costs a third of the scan
        folder.files += 1
        if scan.problems:
            folder.bad += 1
            self._add_bad(scan)

    def _add_bad(self, scan: FileScan) -> None:
        self.bad += 1
        if any(problem.severity is Severity.ERROR for problem in scan.problems):
            self.failed += 1
            self.failed_bytes += scan.size
        # Files of one cache share the list of their tensors, which is gone through once for all that follow each other.
        if scan.facts is not self.alike:
            self._add_alike()
            self.alike = scan.facts
        self.alike_files += 1

    def _add_alike(self) -> None:
        seen = set()
        for fact in self.alike if self.alike_files else ():
            if fact.device and fact.device not in HARMLESS_DEVICES:
                use = _bounded(self.keys, fact.key, MAX_KEYS, KeyUse)
                use.files += (fact.key not in seen) * self.alike_files
                use.bytes += fact.bytes * self.alike_files
                use.devices[fact.device] = use.devices.get(fact.device, 0) + self.alike_files
                seen.add(fact.key)
        self.alike_files = 0

    def finish(
        self, *, paths: Sequence[str], roots: Sequence[str], seconds: float, interrupted: bool, stopped: str = ""
    ) -> ScanResult:
        """Returns the result. Checks across files say nothing where not all files were seen."""
        self._add_alike()
        if not interrupted and not stopped:
            self.across.finish(self.kinds, roots[0])
        return ScanResult(
            paths=tuple(paths),
            roots=tuple(roots),
            files=self.files,
            recognised=self.recognised,
            bad=self.bad,
            failed=self.failed,
            bytes=self.bytes,
            failed_bytes=self.failed_bytes,
            tensors=self.tensors,
            formats=self.formats,
            devices=dict(sorted(self.devices.items())),
            device_files=dict(sorted(self.device_files.items())),
            dtypes=dict(sorted(self.dtypes.items())),
            keys=self.keys,
            folders=self.folders,
            skipped=self.skipped,
            findings=self.kinds.findings(self.recognised, paths),
            bad_files=tuple(self.bad_files),
            seconds=seconds,
            interrupted=interrupted,
            stopped=stopped,
        )


def _bounded(uses: dict[str, Use], name: str, most: int, make: type[Use]) -> Use:
    """Returns the entry of that name; of OTHERS once there are `most` names."""
    name = name if name in uses or len(uses) < most else OTHERS
    if name not in uses:
        uses[name] = make()
    return uses[name]


def _add_tallies(total: dict[str, Tally], more: Mapping[str, Tally]) -> None:
    for name, tally in more.items():
        total[name] = total[name] + tally if name in total else tally
