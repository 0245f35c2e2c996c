"""File systems that were full while the job ran. Pure."""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence
from diagnostics.core.wording import format_bytes
from diagnostics.dynamic.job.job import Job
from diagnostics.record.supervisor_facts import DiskState

SHM = "/dev/shm"  # noqa: S108 - the name of a mount, nothing is written there
FULL_BYTES = 32 << 20  # what a checkpoint or a batch would not fit into
QUOTED = re.compile(r"['\"<](/?[^'\"<>\n/.]*[/.][^'\"<>\n]*)['\">]")


def disk_of(job: Job, file: str) -> DiskState | None:
    """Returns the file system that holds `file`, absolute or relative to the job's folder; None where not known."""
    path = file if file.startswith("/") else f"{job.facts.cwd}/{file}"
    holding = [disk for disk in job.facts.disks if path == disk.path or path.startswith(disk.path.rstrip("/") + "/")]
    return max(holding, key=lambda disk: len(disk.path), default=None)


def was_full(disk: DiskState) -> bool:
    """Whether nothing of use fitted into it at some moment, in bytes or in files."""
    return disk.least_free_bytes < min(FULL_BYTES, disk.total_bytes // 20) or disk.free_inodes == 0


def full_disks(job: Job) -> tuple[DiskState, ...]:
    """Returns the file systems that were full at some moment."""
    return tuple(disk for disk in job.facts.disks if was_full(disk))


def disk_evidence(disk: DiskState) -> Evidence:
    """Returns how full it got."""
    inodes = f"; {disk.free_inodes} files more" if disk.free_inodes is not None and disk.free_inodes < 1000 else ""
    return Evidence(
        source=f"df {disk.path}",
        observed=f"least free {format_bytes(disk.least_free_bytes)} of {format_bytes(disk.total_bytes)}{inodes}",
    )


def path_in(text: str) -> str:
    """Returns the first path quoted in a text, "" where there is none."""
    found = QUOTED.search(text)
    return found[1] if found else ""
