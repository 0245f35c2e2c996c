"""How long a repair takes, estimated from what is written where; meant for a person who decides whether to wait."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from diagnostics.cache.repair.actions import REWRITING, FilePlan
from diagnostics.machine.host.disks import MountedDisks

# Measured: an appended and synced file, and bytes copied by the kernel, in memory and on a local disk.
MEMORY = (0.001, 1.2e9)
DISK = (0.006, 0.5e9)


def estimated_s(files: Iterable[FilePlan], *, jobs: int, backup: Path | None) -> float:
    """Returns seconds: a time for each file, and the bytes written over the speed of where they go."""
    kinds: dict[str, tuple[float, float]] = {}
    single = copied = 0.0
    for file in files:
        folder = os.path.dirname(file.target or file.real)  # noqa: PTH120 - strings throughout
        if folder not in kinds:
            kinds[folder] = _speed(Path(folder))
        each_s, bytes_s = kinds[folder]
        single += each_s
        copied += (file.written + (file.identity.size if backup and file.action in REWRITING else 0)) / bytes_s
    return single / jobs + copied


def _speed(folder: Path) -> tuple[float, float]:
    return MEMORY if MountedDisks().file_system(folder) in ("tmpfs", "ramfs") else DISK
