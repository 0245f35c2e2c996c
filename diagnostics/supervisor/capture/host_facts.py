"""What the machine was like when a job began, while it ran, and when it ended: the facts around its processes.

    around = at_start(record_folder, cwd)
    SupervisorFacts(**around.facts, ...)         at once; later again for the disks' least free space
    around.saw(pids)                      whenever the supervisor looks: cheap
    around.facts_at_end(pids)             kills for lack of memory, the kernel's lines; writes captures/memory.json

Nothing here raises; what could not be read is among `missing`.
"""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diagnostics.core import redaction
from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.facts import MachineError
from diagnostics.machine.host.gpus import NvmlGpus
from diagnostics.machine.host.kernel_log import MOST_LINES, KernelLog, concerns_a_job, shown
from diagnostics.machine.host.memory import SHM, SystemMemory
from diagnostics.machine.host.oom_counters import (
    GroupMemory,
    counts_upwards,
    machine_oom_kills,
    memory_group,
    outermost,
    read_with_limit,
)
from diagnostics.machine.processes.job_processes import OWN
from diagnostics.record.supervisor_facts import DiskState, Missing
from diagnostics.supervisor.capture.snapshot import keep_json

SAMPLE_S = 0.1  # a full disk may have room again as soon as the file that filled it is gone
SAMPLES_PER_MEMORY = 10  # reading /proc/meminfo costs a hundred times more than statvfs
ASK_S = 2.0
LOOKS_A_PROCESS = 8  # it may go into a group of its own after it was first seen
MOST_GROUPS = 8  # read again at each look: those that a job makes are gone as soon as it ends
_LIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "nproc": resource.RLIMIT_NPROC,
    "core": resource.RLIMIT_CORE,
    "memlock": resource.RLIMIT_MEMLOCK,
    "as": resource.RLIMIT_AS,
    "fsize": resource.RLIMIT_FSIZE,
}


def at_start(record_folder: Path, cwd: Path, environ: Mapping[str, str] | None = None) -> HostFacts:
    """Returns the facts of now, and begins to watch; call `close` when the job has ended."""
    return HostFacts(record_folder, cwd, os.environ if environ is None else environ)


class HostFacts:
    """The machine around one job. `facts` are keyword arguments for SupervisorFacts."""

    def __init__(self, record_folder: Path, cwd: Path, environ: Mapping[str, str]) -> None:
        self._record = record_folder
        self._began = time.clock_gettime(time.CLOCK_MONOTONIC)  # the kernel log's clock
        self._missing: list[Missing] = []
        self._log = self._open_log()
        self._machine_kills = machine_oom_kills()
        self._groups: dict[Path, int | None] = {}
        self._told: dict[Path, GroupMemory] = {}  # the last that each told
        self._group_pids: dict[Path, set[int]] = {}
        self._looks: Counter[int] = Counter()
        self._see_group("self")
        folders = (cwd, Path(tempfile.gettempdir()), SHM, record_folder)
        self._disks = _DiskWatch(folders)
        memory = SystemMemory()
        asked = in_parallel(
            {
                "memory": memory.total_bytes,
                "shm": lambda: memory.shm().total_bytes,
                "gpus": _gpus,
                "disks": self._disks.look,
            },
            deadline_s=ASK_S,
        )
        self._missing += [Missing(what=what, why=str(error)) for what, error in asked.errors.items()]
        self._missing += [Missing(what=what, why=f"no answer within {ASK_S:g} s") for what in asked.late]
        self._fixed: dict[str, Any] = {
            "limits": _limits(),
            "memory_bytes": asked.results.get("memory"),
            "shm_bytes": asked.results.get("shm"),
            "gpus": asked.results.get("gpus", ()),
            "variables": redaction.environment({name: value for name, value in environ.items() if name != OWN}),
        }
        self._disks.start()

    @property
    def facts(self) -> dict[str, Any]:
        """What is known by now: limits, memory_bytes, shm_bytes, gpus, variables, disks, missing."""
        return {**self._fixed, "disks": self._disks.states(), "missing": tuple(self._missing)}

    def saw(self, pids: Iterable[int]) -> None:
        """Notes the control groups of processes that are new: a job may make groups of its own."""
        for pid in pids:
            if self._looks[pid] < LOOKS_A_PROCESS:
                self._looks[pid] += 1
                self._see_group(pid)
        for folder in list(self._groups)[:MOST_GROUPS]:
            self._read(folder)

    def facts_at_end(self, pids: Collection[int]) -> dict[str, Any]:
        """Returns `facts` with oom_kills and kernel_lines; `pids` are all the job ever had. May be called again."""
        self._missing += keep_json(self._record / "captures" / "memory.json", self._memory())
        lines = tuple(redaction.text(line) for line in self._kernel_lines(pids))
        self._fixed = {**self._fixed, "oom_kills": self._oom_kills(), "kernel_lines": lines}
        return self.facts

    def close(self) -> None:
        """Ends the watch."""
        self._disks.stop()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _open_log(self) -> KernelLog | None:
        try:
            return KernelLog()
        except MachineError as error:
            self._missing.append(Missing(what="kernel log", why=str(error)))
            return None

    def _see_group(self, pid: int | str) -> None:
        folder = memory_group(pid)
        if folder is None:
            return
        if folder not in self._groups:
            self._groups[folder] = self._read(folder).oom_kills
        if isinstance(pid, int):
            for pids in self._group_pids.values():
                pids.discard(pid)
            self._group_pids.setdefault(folder, set()).add(pid)

    def _read(self, folder: Path) -> GroupMemory:
        """Returns what a group tells, or told last where it is gone."""
        now = read_with_limit(folder)
        if now.used_bytes is not None or folder not in self._told:
            self._told[folder] = now
        return self._told[folder]

    def _oom_kills(self) -> int | None:
        """Returns the kills counted in the job's groups, on the whole machine where these do not count."""
        upwards = outermost(folder for folder in self._groups if counts_upwards(folder))
        own = [folder for folder in self._groups if folder in upwards or not counts_upwards(folder)]
        told = [self._grown(folder) for folder in own]
        counted = [number for number in told if number is not None]
        if counted:
            return sum(counted)
        now = machine_oom_kills()
        return None if now is None or self._machine_kills is None else now - self._machine_kills

    def _grown(self, folder: Path) -> int | None:
        now, before = self._read(folder).oom_kills, self._groups[folder]
        return None if now is None or before is None else now - before

    def _memory(self) -> dict[str, Any]:
        groups = [
            {**asdict(self._read(folder)), "pids": sorted(self._group_pids.get(folder, ()))} for folder in self._groups
        ]
        return {"groups": groups, "least_available_bytes": self._disks.least_available_bytes}

    def _kernel_lines(self, pids: Collection[int]) -> list[str]:
        kept = list(self._fixed.get("kernel_lines", ()))
        for line in self._log.lines() if self._log is not None else ():
            if concerns_a_job(line.text) and len(kept) < MOST_LINES:
                kept.append(shown(line.seconds - self._began, line.text, pids))
        return kept


class _DiskWatch:
    """Looks at the free space of each file system again and again, in a thread that may hang on a dead one."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._states: dict[int, DiskState] = {}
        self._stopped = threading.Event()
        self.least_available_bytes: int | None = None

    def start(self) -> None:
        """Begins to look; without a thread to spare it stays with the first look."""
        try:
            threading.Thread(target=self._watch, daemon=True, name="ups-doctor-disks").start()
        except RuntimeError:  # the user may start no more threads
            self._stopped.set()

    def stop(self) -> None:
        """Ends the thread with its next look."""
        self._stopped.set()

    def states(self) -> tuple[DiskState, ...]:
        """Returns each file system once, by the first of the folders that lies on it."""
        return tuple(self._states.copy().values())  # the thread may add one meanwhile

    def look(self) -> None:
        """Reads the free space once."""
        for folder in self._folders:
            try:
                device, stats = folder.stat().st_dev, os.statvfs(folder)
            except OSError:  # removed by the job
                continue
            free, known = stats.f_bavail * stats.f_frsize, self._states.get(device)
            self._states[device] = DiskState(
                path=known.path if known else str(folder),
                total_bytes=stats.f_blocks * stats.f_frsize,
                free_bytes=free,
                least_free_bytes=min(free, known.least_free_bytes) if known else free,
                free_inodes=stats.f_favail if stats.f_files else None,
            )

    def _watch(self) -> None:
        memory = SystemMemory()
        for look in itertools.count():
            if self._stopped.wait(SAMPLE_S):
                return
            self.look()
            if look % SAMPLES_PER_MEMORY:
                continue
            try:
                left = memory.available_bytes()
            except (MachineError, OSError, ValueError):
                continue
            self.least_available_bytes = min(left, self.least_available_bytes or left)


def _limits() -> dict[str, int]:
    """Returns the soft limits; -1 is unlimited."""
    return {name: resource.getrlimit(kind)[0] for name, kind in _LIMITS.items()}


def _gpus() -> tuple[str, ...]:
    if not Path("/dev/nvidiactl").exists():
        return ()
    return tuple(
        f"{gpu.index}: {gpu.fault or gpu.name}, {gpu.memory_total_bytes >> 20} MiB, {gpu.memory_used_bytes >> 20} used"
        for gpu in NvmlGpus().devices()
    )
