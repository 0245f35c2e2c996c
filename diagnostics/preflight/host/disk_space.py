"""A folder the job writes to is full or may not be written.

What it does: looks at the output folder, the cache folders and the temporary folder: free bytes against what
the run is going to write, free inodes, and a nameless file really written there.

Why it matters: a full disk cuts checkpoints off, and torch reports it as "unexpected pos" or as nothing.

Fix: free space, or name another folder with `--set output.dir=...` or TMPDIR.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import format_bytes
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P103"
NAME = "disk-space"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each folder that is too full or not writable."""
    findings: list[Finding] = []
    free: dict[str, int] = {}
    for use, folder, needed in _folders(config):
        try:
            free[str(folder)] = machine.disks.free_bytes(folder)
            finding = _look(machine, use, folder, needed)
        except MachineError as error:
            raise Skip(str(error)) from error
        if finding is not None:
            findings.append(finding)
    least = min(free, key=lambda path: free[path])
    others = f", the fullest of {len(free)} folders" if len(free) > 1 else ""
    return ProbeResult(
        title=f"{format_bytes(free[least])} free at {least}{others}",
        findings=tuple(findings),
        measured={f"free_bytes {path}": count for path, count in free.items()},
    )


def _folders(config: PreflightConfig) -> list[tuple[str, Path, int]]:
    smallest = config.thresholds.min_free_disk_bytes
    found = [("temporary folder", Path(tempfile.gettempdir()), smallest)]
    if config.job is not None:
        needed = max(smallest, config.job.disk_bytes)
        found += [("cache folder", folder, needed) for folder in config.job.cache_dirs]
        if config.job.output_dir is not None:
            found.append(("output folder", config.job.output_dir, needed))
    return found


def _look(machine: Machine, use: str, folder: Path, needed: int) -> Finding | None:
    if not machine.disks.writable(folder):
        return _finding(
            "not-writable",
            f"the {use} {folder} cannot be written",
            folder,
            Evidence(source=f"a file made in {folder}", observed="refused", expected="made and removed"),
            f"ls -ld {folder}",
        )
    free = machine.disks.free_bytes(folder)
    if free < needed:
        kind = machine.disks.file_system(folder)
        return _finding(
            "disk-nearly-full",
            f"the {use} {folder} ({kind}) has {format_bytes(free)} free; about {format_bytes(needed)} are needed",
            folder,
            Evidence(source=f"df -h {folder}", observed=format_bytes(free), expected=f"{format_bytes(needed)} or more"),
            f"df -h {folder}",
        )
    inodes = machine.disks.free_inodes(folder)
    if 0 <= inodes < 1000:
        return _finding(
            "too-few-inodes",
            f"the {use} {folder} has room for {inodes} more files, whatever its free bytes",
            folder,
            Evidence(source=f"df -i {folder}", observed=f"{inodes} inodes free", expected="1000 or more"),
            f"df -i {folder}",
        )
    return None


def _finding(name: str, title: str, folder: Path, evidence: Evidence, command: str) -> Finding:
    return Finding(
        code=CODE,
        name=name,
        severity=Severity.ERROR,
        title=title,
        where=str(folder),
        evidence=(evidence,),
        fix=Fix(text="make room there, or name another folder", commands=(command,)),
    )
