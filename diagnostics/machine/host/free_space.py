"""How many bytes a folder takes: what its disk has free, or the memory behind it where it lies in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.host.disks import MountedDisks
from diagnostics.machine.host.memory import SystemMemory

IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """`limit` says what the number is of: "free" or "of memory available"."""

    bytes: int
    limit: str


def free_space(folder: Path) -> Room:
    """Returns the room in `folder`, or in its nearest existing parent; a control group's limit counts."""
    disks = MountedDisks()
    free = disks.free_bytes(folder)
    if disks.file_system(folder) in IN_MEMORY and (memory := SystemMemory().available_bytes()) < free:
        return Room(bytes=memory, limit="of memory available")
    return Room(bytes=free, limit="free")
