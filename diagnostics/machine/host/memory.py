"""RAM, the limits that control groups put on it, and /dev/shm."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.facts import CgroupMemory, MachineError, Space
from diagnostics.machine.host.cgroups import ancestors

SHM = Path("/dev/shm")  # noqa: S108 - its size is what is asked for; nothing is written
_UNLIMITED = 1 << 60  # cgroup v1 writes "no limit" as a number just under 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """How one version of control groups calls its files."""

    limit: str
    used: str
    droppable: str  # the key of memory.stat that counts page cache the kernel can take back


_V1 = _Files(limit="memory.limit_in_bytes", used="memory.usage_in_bytes", droppable="total_inactive_file")
_V2 = _Files(limit="memory.max", used="memory.current", droppable="inactive_file")


class SystemMemory:
    """The Memory provider."""

    def total_bytes(self) -> int:
        """Returns MemTotal, or the control group's limit where that is less."""
        group = self.cgroup()
        total = _meminfo("MemTotal")
        return min(total, group.limit_bytes) if group else total

    def available_bytes(self) -> int:
        """Returns MemAvailable, or what the control group has left where that is less."""
        group = self.cgroup()
        available = _meminfo("MemAvailable")
        return min(available, max(0, group.limit_bytes - group.used_bytes)) if group else available

    def cgroup(self) -> CgroupMemory | None:
        """Returns the limit that leaves the least room; parents' limits count too."""
        limits = [found for found in _limits() if found.limit_bytes < _meminfo("MemTotal")]
        return min(limits, key=lambda item: item.limit_bytes - item.used_bytes, default=None)

    def shm(self) -> Space:
        """Returns the space of /dev/shm; MachineError where it is not mounted."""
        try:
            stats = os.statvfs(SHM)
        except OSError as error:
            raise MachineError(f"{SHM} cannot be read: {error.strerror}") from error
        return Space(stats.f_blocks * stats.f_frsize, stats.f_bavail * stats.f_frsize)


def _limits() -> Iterator[CgroupMemory]:
    for folder, files in [(item, _V2) for item in ancestors("")] + [(item, _V1) for item in ancestors("memory")]:
        try:
            limit = (folder / files.limit).read_text(encoding="ascii").strip()
            used = int((folder / files.used).read_text(encoding="ascii"))
            stat = (folder / "memory.stat").read_text(encoding="ascii")
        except (OSError, ValueError):  # the root group has no limit file
            continue
        if limit == "max" or int(limit) >= _UNLIMITED:
            continue
        droppable = dict(line.split()[:2] for line in stat.splitlines()).get(files.droppable, "0")
        yield CgroupMemory(limit_bytes=int(limit), used_bytes=max(0, used - int(droppable)), path=str(folder))


def _meminfo(key: str) -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise MachineError(f"/proc/meminfo has no {key}")
