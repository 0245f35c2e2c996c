"""What a scan of many cache files found: counts by device, type and format, and findings with proof."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from diagnostics.caches.across_files import checks
from diagnostics.caches.file_scan import FileScan, Problem, Tally
from diagnostics.caches.one_file import formats
from diagnostics.findings import Evidence, Finding, Fix, Severity

KEPT_FILES = 1000  # bad files whose details are kept; all are counted
EVIDENCE_FILES = 3  # shown as proof of one finding
COMMAND_FILES = 8  # named in a command

RESAVE = (
    "import os, sys, torch; "
    '[(torch.save(torch.load(p, map_location="cpu", weights_only=True), p + ".new"), os.replace(p + ".new", p)) '
    "for p in sys.argv[1:]]"
)
# What "N of M cache files ..." goes on with, and what helps. A plugin may have MEANINGS and REMEDIES of its own,
# which are asked first, so that a new kind of problem needs no change here.
MEANINGS = {
    "cuda-in-cache": "carry tags of {devices}: a machine without that device, or a forked worker, fails on them",
    "truncated-file": "were cut off: reading them fails, or gives data of another sample",
    "corrupt-file": "do not hold what they say they hold",
    "unsafe-pickle": "would run code that does more than rebuild tensors when they are loaded",
    "unreadable-file": "cannot be read",
    "half-written": "are temporary files that a writer left behind",
    "checksum-mismatch": "hold other bytes than were written into them: a disk, a copy or a memory module changed them",
    "trailing-data": "are longer than what they describe: the rest of an older file, or of a writer that was killed",
}
REMEDIES = {
    "cuda-in-cache": "load each with map_location='cpu' and save it again, or delete the cache and let it be rebuilt",
    "truncated-file": "make these files again; check the free space first (df -h)",
    "corrupt-file": "make these files again",
    "unsafe-pickle": "do not load them unless you know who wrote them; save plain tensors, lists and dicts instead",
    "unreadable-file": "check who owns them",
    "half-written": "remove them once no writer is running",
    "checksum-mismatch": "make these files again, or copy them again from where they were right",
    "trailing-data": "make these files again if they should hold more; otherwise their readers ignore the rest",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheScan:
    """The result. `files` counts all that were looked at, `recognised` those of a known format."""

    roots: tuple[str, ...]
    files: int
    recognised: int
    bad: int
    bytes: int  # of the recognised files
    tensors: int
    formats: dict[str, int]
    devices: dict[str, Tally]
    device_files: dict[str, int]
    dtypes: dict[str, Tally]
    skipped: dict[str, int]  # files by the reason why they were left out
    findings: tuple[Finding, ...]
    bad_files: tuple[FileScan, ...]  # the first KEPT_FILES of them
    seconds: float
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """0 clean, 1 something is wrong, 2 no cache file was found, 130 interrupted."""
        if self.interrupted:
            return 130
        if any(finding.severity is Severity.ERROR for finding in self.findings):
            return 1
        return 0 if self.recognised else 2


@dataclass(slots=True)
class Kind:
    """All problems of one format and name."""

    files: int = 0
    severity: Severity = Severity.WARNING
    examples: list[tuple[str, Problem]] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Count:
    """Adds scans up as they come."""

    files: int = 0
    recognised: int = 0
    bad: int = 0
    bytes: int = 0
    tensors: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    devices: dict[str, Tally] = field(default_factory=dict)
    device_files: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, Tally] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)
    bad_files: list[FileScan] = field(default_factory=list)

    def add(self, scan: FileScan) -> None:
        """Counts one more file."""
        self.files += 1
        if scan.skipped:
            self.skipped[scan.skipped] = self.skipped.get(scan.skipped, 0) + 1
            return
        self.recognised += 1
        self.bytes += scan.size
        self.tensors += scan.tensors
        self.formats[scan.format] = self.formats.get(scan.format, 0) + 1
        _add_tallies(self.devices, scan.devices)
        _add_tallies(self.dtypes, scan.dtypes)
        for device in scan.devices:
            self.device_files[device] = self.device_files.get(device, 0) + 1
        if scan.problems:
            self._add_problems(scan)

    def _add_problems(self, scan: FileScan) -> None:
        self.bad += 1
        if len(self.bad_files) < KEPT_FILES:
            self.bad_files.append(scan)
        for name in {problem.name: None for problem in scan.problems}:
            kind = self.kinds.setdefault((scan.code, name), Kind())
            kind.files += 1
            same = [problem for problem in scan.problems if problem.name == name]
            kind.severity = max(kind.severity, *(problem.severity for problem in same))
            kind.devices.update(device for device in scan.devices if device not in ("cpu", "meta"))
            if len(kind.examples) < COMMAND_FILES:
                kind.examples.append((scan.path, same[0]))

    def finish(self, *, roots: Sequence[str], seconds: float, interrupted: bool) -> CacheScan:
        """Returns the result."""
        findings = [self._finding(code, name, kind) for (code, name), kind in sorted(self.kinds.items())]
        return CacheScan(
            roots=tuple(roots),
            files=self.files,
            recognised=self.recognised,
            bad=self.bad,
            bytes=self.bytes,
            tensors=self.tensors,
            formats=self.formats,
            devices=dict(sorted(self.devices.items())),
            device_files=dict(sorted(self.device_files.items())),
            dtypes=dict(sorted(self.dtypes.items())),
            skipped=self.skipped,
            findings=tuple(sorted(findings, key=lambda finding: -finding.severity)),
            bad_files=tuple(self.bad_files),
            seconds=seconds,
            interrupted=interrupted,
        )

    def _finding(self, code: str, name: str, kind: Kind) -> Finding:
        meaning = words("MEANINGS", code, name).replace("{devices}", ", ".join(sorted(kind.devices)))
        evidence = [
            Evidence(
                source=f"{path}{f', {problem.place}' if problem.place else ''}",
                observed=problem.observed,
                expected=problem.expected,
            )
            for path, problem in kind.examples[:EVIDENCE_FILES]
        ]
        return Finding(
            code=code,
            name=name,
            severity=kind.severity,
            title=f"{kind.files} of {self.recognised} cache files {meaning}",
            where=kind.examples[0][0],
            evidence=tuple(evidence),
            fix=Fix(text=words("REMEDIES", code, name), commands=_commands(name, [path for path, _ in kind.examples])),
        )


def words(table: Literal["MEANINGS", "REMEDIES"], code: str, name: str) -> str:
    """Returns what `table` says about a problem: the plugin's own words, else the common ones, else its name."""
    common, unknown = (
        (MEANINGS, f"have a problem: {name.replace('-', ' ')}")
        if table == "MEANINGS"
        else (REMEDIES, f"read what it is: ups-doctor explain {code}")
    )
    plugins: dict[str, object] = {plugin.CODE: plugin for plugin in formats()}
    plugins |= {check.CODE: check for check in checks()}
    own: Mapping[str, str] = getattr(plugins.get(code), table, {})
    return own.get(name) or common.get(name) or unknown


def _commands(name: str, paths: list[str]) -> tuple[str, ...]:
    shown = shlex.join(paths)
    match name:
        case "cuda-in-cache":
            return (f"python -c {shlex.quote(RESAVE)} {shown}",)
        case "unreadable-file" | "half-written":
            return (f"ls -l {shown}",)
        case _:
            return ()


def _add_tallies(total: dict[str, Tally], more: Mapping[str, Tally]) -> None:
    for name, tally in more.items():
        total[name] = total[name] + tally if name in total else tally
