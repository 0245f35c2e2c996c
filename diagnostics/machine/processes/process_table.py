"""Every process of this machine, with what tells to which job it belongs: parents, command lines, variables."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.processes.pidfds import stat_words

KERNEL_THREAD = 0x0020_0000  # PF_KTHREAD
# What launchers give to ranks; the rest of an environment may hold secrets and is not kept.
VARIABLES = (
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT",
    "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID",
    "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "UPS_DOCTOR_DIR",
)  # fmt: skip
_PYTHON = "python"
_DEADLINE_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One process. `environment` is its whole one, () where it may not be read."""

    pid: int
    ppid: int
    start_ticks: int
    state: str
    argv: tuple[str, ...] = ()
    cwd: str = ""
    uid: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    is_kernel_thread: bool = False
    network: str = ""  # which network namespace it lives in
    readable: bool = True  # whether its environment could be read
    inner_pid: int | None = None  # its number inside the innermost container


def read_table() -> dict[int, TableRow]:
    """Returns all processes by pid, zombies too; what hangs inside the kernel has no command line."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names are all we need
    rows = {pid: row for pid in pids if (row := _stat_row(pid)) is not None}
    found = in_parallel({pid: lambda row=row: _described(row) for pid, row in rows.items()}, deadline_s=_DEADLINE_S)  # type: ignore[misc]
    return {pid: found.results.get(pid, row) for pid, row in rows.items()}


def environment_of(pid: int) -> dict[str, str]:
    """Returns the environment a process was started with, {} where it may not be read."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (entry.decode("utf-8", "replace").partition("=")[::2] for entry in entries if b"=" in entry)
    return dict(pairs)


def thread_owner(number: int) -> int | None:
    """Returns the process that a thread belongs to, None where there is no such thread."""
    owner = _status(number).get("Tgid", "").strip()
    return int(owner) if owner.isdigit() else None


def started_ns(start_ticks: int) -> int:
    """Returns the wall-clock time at which a process with this start began."""
    since_boot_s = start_ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int(since_boot_s * 1e9)


def uses_torch(pid: int) -> bool:
    """Whether torch's library is in the memory of a process; False where it may not be read."""
    try:
        return "libtorch" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _stat_row(pid: int) -> TableRow | None:
    words = stat_words(pid)
    if words is None:
        return None
    return TableRow(
        pid=pid,
        ppid=int(words[1]),
        start_ticks=int(words[19]),
        state=words[0],
        is_kernel_thread=bool(int(words[6]) & KERNEL_THREAD),
    )


def _described(row: TableRow) -> TableRow:
    folder = Path(f"/proc/{row.pid}")
    environ = environment_of(row.pid)
    status = _status(row.pid)
    inner = status.get("NSpid", "").split()
    uid = status.get("Uid", "").split()
    return TableRow(
        pid=row.pid,
        ppid=row.ppid,
        start_ticks=row.start_ticks,
        state=row.state,
        is_kernel_thread=row.is_kernel_thread,
        argv=_command(folder),
        cwd=_link(folder / "cwd"),
        uid=int(uid[0]) if uid else None,
        variables={name: environ[name] for name in VARIABLES if name in environ},
        network=_link(folder / "ns" / "net"),
        readable=bool(environ),
        inner_pid=int(inner[-1]) if len(inner) > 1 else None,
    )


def _command(folder: Path) -> tuple[str, ...]:
    """Returns the command line; of a Python that renamed itself with its program in front."""
    try:
        data = (folder / "cmdline").read_bytes()
    except OSError:
        return ()
    words = tuple(word.decode("utf-8", "replace") for word in data.rstrip(b"\0").split(b"\0")) if data else ()
    program = _link(folder / "exe").rpartition("/")[2]
    renamed = program.startswith(_PYTHON) and words and not words[0].rpartition("/")[2].startswith(_PYTHON)
    return (program, *words) if renamed else words


def _status(pid: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(line.partition(":")[::2] for line in text.splitlines())


def _link(path: Path) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - "net:[4026531840]" is no path
    except OSError:
        return ""
