"""How often the kernel killed for lack of memory, and how near a control group came to its limit.

The kernel counts a kill in the group of the process it killed, whoever's limit was hit: version 1 there alone,
version 2 in all groups above, too. So only the groups that the job's own processes are in are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from diagnostics.machine.host.cgroups import ROOT, ancestors

VMSTAT = Path("/proc/vmstat")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMemory:
    """One memory control group. None stands for what this kernel does not tell; no limit is None, too."""

    path: str
    limit_bytes: int | None
    used_bytes: int | None  # page cache included
    peak_bytes: int | None
    limit_hits: int | None  # how often an allocation met the limit
    oom_kills: int | None


def memory_group(pid: int | str = "self", *, root: Path = ROOT) -> Path | None:
    """Returns the folder of the memory group of `pid`; None where it is gone or groups are not mounted."""
    membership = Path(f"/proc/{pid}/cgroup")
    for controller, file in (("memory", "memory.usage_in_bytes"), ("", "memory.current")):
        folders = ancestors(controller, root=root, membership=membership)
        if folders and (folders[0] / file).exists():
            return folders[0]
    return None


def read_group(folder: Path) -> GroupMemory:
    """Returns what one group tells, of either version."""
    events = _pairs(folder / "memory.events")
    return GroupMemory(
        path=str(folder),
        limit_bytes=_first(folder, "memory.limit_in_bytes", "memory.max"),
        used_bytes=_first(folder, "memory.usage_in_bytes", "memory.current"),
        peak_bytes=_first(folder, "memory.max_usage_in_bytes", "memory.peak"),
        limit_hits=events.get("max", _first(folder, "memory.failcnt")),
        oom_kills=events.get("oom_kill", _pairs(folder / "memory.oom_control").get("oom_kill")),
    )


def read_with_limit(folder: Path, *, root: Path = ROOT) -> GroupMemory:
    """Returns what one group tells, its limit being the smallest of its own and of those that it lies in."""
    group = read_group(folder)
    above = [read_group(parent).limit_bytes for parent in folder.parents if root in parent.parents]
    limits = [limit for limit in (group.limit_bytes, *above) if limit is not None]
    return replace(group, limit_bytes=min(limits, default=None))


def outermost(folders: Iterable[Path]) -> list[Path]:
    """Returns those that lie in no other one: version 2 counts a kill in every group above."""
    known = set(folders)
    return sorted(folder for folder in known if not known.intersection(folder.parents))


def counts_upwards(folder: Path) -> bool:
    """Whether this group counts the kills of the groups in it, as version 2 does."""
    return (folder / "memory.events").exists()


def machine_oom_kills(vmstat: Path = VMSTAT) -> int | None:
    """Returns the kills on the whole machine since it started; None where the kernel does not count them."""
    return _pairs(vmstat).get("oom_kill")


def _first(folder: Path, *names: str) -> int | None:
    for name in names:
        text = _text(folder / name).strip()
        if text.isdigit():
            value = int(text)
            return value if value < 1 << 60 else None  # version 1 writes "no limit" as nearly 2**63
    return None


def _pairs(path: Path) -> dict[str, int]:
    words = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
