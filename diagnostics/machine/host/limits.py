"""What the kernel allows this process: descriptors, cores, core files, tracing."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from diagnostics.machine.facts import Limit, MachineError
from diagnostics.machine.host.cgroups import ancestors

_SYS_PTRACE = 19  # bit of CAP_SYS_PTRACE, see capabilities(7)


class KernelLimits:
    """The Limits provider."""

    def open_files(self) -> Limit:
        """Returns RLIMIT_NOFILE."""
        return Limit(*resource.getrlimit(resource.RLIMIT_NOFILE))

    def core_limit(self) -> Limit:
        """Returns RLIMIT_CORE in bytes; -1 is no limit."""
        return Limit(*resource.getrlimit(resource.RLIMIT_CORE))

    def core_pattern(self) -> str:
        """Returns the kernel's setting; a leading | pipes core files to a program."""
        return _read(Path("/proc/sys/kernel/core_pattern"))

    def cpu_count(self) -> float:
        """Returns the CPUs of the affinity mask, or the control group's quota where that is less."""
        allowed = float(len(os.sched_getaffinity(0)))
        return min([allowed, *_quotas()])

    def ptrace_scope(self) -> int | None:
        """Returns Yama's setting, None on a kernel without it."""
        try:
            return int(_read(Path("/proc/sys/kernel/yama/ptrace_scope")))
        except MachineError:
            return None

    def can_trace_all(self) -> bool:
        """Returns whether CAP_SYS_PTRACE is effective."""
        for line in _read(Path("/proc/self/status")).splitlines():
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) >> _SYS_PTRACE & 1)
        return False


def _quotas() -> list[float]:
    """Returns CPUs granted by each control group that has a quota."""
    found = [_quota_v2(folder) for folder in ancestors("")] + [_quota_v1(folder) for folder in ancestors("cpu")]
    return [quota for quota in found if quota is not None]


def _quota_v2(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)


def _quota_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        period = int((folder / "cpu.cfs_period_us").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}") from error
