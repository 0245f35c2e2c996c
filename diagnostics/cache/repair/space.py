"""The free space a plan needs on each file system, counted before anything is changed."""

from __future__ import annotations

import heapq
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from diagnostics.cache.repair.actions import REWRITING, Action, FilePlan
from diagnostics.cache.repair.places import device_of
from diagnostics.core.errors import DoctorError
from diagnostics.machine.host.disks import MountedDisks, nearest_existing

BLOCK_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One file system: `lasting` bytes stay in use afterwards, `passing` ones only while a copy is made."""

    folder: str
    lasting: int
    passing: int
    free: int

    @property
    def bytes(self) -> int:
        """What must be free at the worst moment."""
        return self.lasting + self.passing

    @property
    def fits(self) -> bool:
        """Whether it is free."""
        return self.bytes <= self.free


def needs(files: Iterable[FilePlan], *, jobs: int, backup: Path | None) -> tuple[Need, ...]:
    """Returns the need of each file system, `jobs` copies being made at once."""
    lasting: dict[int, int] = defaultdict(int)
    passing: dict[int, list[int]] = defaultdict(list)
    folders: dict[int, str] = {}
    for file in files:
        device = file.identity.device
        if file.action in REWRITING:
            folders.setdefault(device, str(Path(file.real).parent))
            if file.action is not Action.APPEND:
                passing[device].append(_blocks(file.written) - min(_blocks(file.grows), _blocks(file.written)))
            if backup:
                kept = device_of(backup)
                folders.setdefault(kept, str(backup))
                lasting[kept] += _blocks(file.identity.size)
        elif file.target:
            folder = Path(file.target).parent
            device = device_of(folder)
            folders.setdefault(device, str(folder))
        lasting[device] += _blocks(file.grows)
    return tuple(
        Need(
            folder=str(nearest_existing(Path(folder))),
            lasting=lasting[device],
            passing=sum(heapq.nlargest(jobs, passing[device])),
            free=MountedDisks().free_bytes(Path(folder)),
        )
        for device, folder in folders.items()
    )


def jobs_that_fit(files: list[FilePlan], *, jobs: int, backup: Path | None) -> tuple[int, tuple[Need, ...]]:
    """Returns how many copies may be made at once, and what they need; 1 at least, whether it fits or not."""
    for count in range(jobs, 0, -1):
        found = needs(files, jobs=count, backup=backup)
        if all(need.fits for need in found) or count == 1:
            return count, found
    return 1, ()


def refuse_without_space(found: Iterable[Need], in_bytes: Callable[[float], str]) -> None:
    """Raises DoctorError with both numbers where one file system lacks the space."""
    for need in found:
        if not need.fits:
            raise DoctorError(
                f"the repair needs {in_bytes(need.bytes)} free on the file system of {need.folder}, "
                f"{in_bytes(need.free)} are free; nothing was changed",
                hint=f"see what takes the space: {shlex.join(['df', '-h', need.folder])}",
            )


def _blocks(size: int) -> int:
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES
