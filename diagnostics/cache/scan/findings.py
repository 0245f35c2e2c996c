"""Problems of many cache files, added up to one finding a kind, with the first files as proof."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from diagnostics.cache.file_scan import HARMLESS_DEVICES, FileScan, Problem
from diagnostics.cache.folder_check import Across, AcrossProblem
from diagnostics.cache.scan.explanations import words
from diagnostics.cache.scan.one_folder import checks
from diagnostics.core.findings import Evidence, Finding, Fix, Severity

MOST_PATHS = 4  # named in a command
EXAMPLES = 3  # files shown as proof of one finding


@dataclass(slots=True)
class ProblemKind:
    """All problems of one code and name."""

    files: int = 0
    severity: Severity = Severity.INFO
    examples: list[tuple[str, Problem]] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)

    def add(self, path: str, problem: Problem, files: int = 1) -> None:
        """Counts a problem of so many files."""
        self.files += files
        self.severity = max(self.severity, problem.severity)
        if len(self.examples) < EXAMPLES:
            self.examples.append((path, problem))


@dataclass(slots=True)
class ProblemKinds:
    """What is wrong, by code and name."""

    by_name: dict[tuple[str, str], ProblemKind] = field(default_factory=dict)

    def add(self, scan: FileScan) -> None:
        """Counts one file under each kind of its problems, with the worst of each."""
        worst: dict[str, Problem] = {}
        for problem in scan.problems:
            if problem.name not in worst or problem.severity > worst[problem.name].severity:
                worst[problem.name] = problem
        for name, problem in worst.items():
            kind = self.by_name.setdefault((scan.code, name), ProblemKind())
            kind.add(scan.path, problem)
            kind.devices.update(device for device in scan.devices if device not in HARMLESS_DEVICES)

    def add_across(self, code: str, found: AcrossProblem) -> None:
        """Counts what files show together."""
        self.by_name.setdefault((code, found.problem.name), ProblemKind()).add(found.path, found.problem, found.files)

    def findings(self, files: int, paths: Sequence[str]) -> tuple[Finding, ...]:
        """Returns one finding a kind, the worst first; `files` were scanned in `paths`."""
        found = [_finding(code, name, kind, files, paths) for (code, name), kind in sorted(self.by_name.items())]
        return tuple(sorted(found, key=lambda finding: -finding.severity))


def _finding(code: str, name: str, kind: ProblemKind, files: int, paths: Sequence[str]) -> Finding:
    meaning = words("MEANINGS", code, name).replace("{devices}", ", ".join(sorted(kind.devices)))
    whole = "{files}" in meaning
    return Finding(
        code=code,
        name=name,
        severity=kind.severity,
        title=meaning.replace("{files}", f"{kind.files:,}")
        if whole
        else f"{kind.files:,} of {files:,} cache files {meaning}",
        where=kind.examples[0][0],
        evidence=tuple(
            Evidence(
                source=f"{path}{f', {problem.place}' if problem.place else ''}",
                observed=problem.observed,
                expected=problem.expected,
            )
            for path, problem in kind.examples
        ),
        fix=Fix(text=words("REMEDIES", code, name), commands=_commands(name, kind, paths)),
    )


def _commands(name: str, kind: ProblemKind, paths: Sequence[str]) -> tuple[str, ...]:
    first = kind.examples[0][0]
    match name:
        case "cuda-in-cache":
            return (f"ups-doctor fix-cache {shlex.join(_few(paths))}",)
        case "unreadable-file" | "unreadable-folder":
            return (f"namei -l {shlex.quote(first)}",)
        case _:
            return ()


def _few(paths: Sequence[str]) -> list[str]:
    """Returns paths that a person can read: of a shell's cache/*.pt, the folder."""
    if len(paths) <= MOST_PATHS:
        return list(paths)
    folders = sorted({os.path.dirname(path) or "." for path in paths})  # noqa: PTH120 - thousands of them
    return folders if len(folders) <= MOST_PATHS else [os.path.commonpath(map(os.path.abspath, folders))]


@dataclass(slots=True)
class AcrossRun:
    """One run of every check over a folder's files; one that raises is dropped and told of."""

    running: dict[str, Across] = field(default_factory=lambda: {check.CODE: check.begin() for check in checks()})
    crashed: dict[str, str] = field(default_factory=dict)

    def add(self, scan: FileScan) -> None:
        """Shows every check the next file."""
        for code, check in list(self.running.items()):
            try:
                check.add(scan)
            except Exception as error:  # a fault of one check loses nothing that the others found
                self._drop(code, error)

    def finish(self, kinds: ProblemKinds, folder: str) -> None:
        """Adds what the checks found."""
        for code, check in list(self.running.items()):
            try:
                found = list(check.finish())
            except Exception as error:
                self._drop(code, error)
                continue
            for shown in found:
                kinds.add_across(code, shown)
        for code, observed in self.crashed.items():
            problem = Problem(name="check-crashed", observed=observed, severity=Severity.WARNING)
            kinds.add_across(code, AcrossProblem(path=folder, problem=problem, files=0))

    def _drop(self, code: str, error: Exception) -> None:
        del self.running[code]
        self.crashed[code] = f"{type(error).__name__}: {error}"[:200]
