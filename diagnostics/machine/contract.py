"""The machine as probes see it: small providers behind Protocols, so that tests can bring their own.

Providers answer with `facts` and judge nothing. Each may raise MachineError with the reason where
the machine does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from diagnostics.machine.facts import (
    NOTHING,
    CgroupMemory,
    ChildResult,
    Driver,
    Gpu,
    Interface,
    Limit,
    PortHolder,
    ProcessInfo,
    RankResult,
    Space,
    TorchFacts,
)


class Gpus(Protocol):
    """NVIDIA GPUs. Both raise MachineError where there is no driver to ask."""

    def devices(self) -> tuple[Gpu, ...]:
        """Every GPU that the driver knows, also those hidden from CUDA."""

    def driver(self) -> Driver:
        """The kernel driver's version and the newest CUDA it serves."""


class Processes(Protocol):
    """Processes that this user may see."""

    def table(self) -> tuple[ProcessInfo, ...]:
        """Every process that is alive; zombies are left out."""

    def find(self, pid: int) -> ProcessInfo | None:
        """One process, None where it is gone."""

    def own_family(self) -> frozenset[int]:
        """Pids of this process, its ancestors and its descendants."""


class Network(Protocol):
    """TCP ports and interfaces."""

    def free_port(self) -> int:
        """A TCP port that nobody listens on now."""

    def is_free(self, port: int) -> bool:
        """Whether a server can listen on this port; it is tried."""

    def port_holder(self, port: int) -> PortHolder | None:
        """Who listens on a port, None where nobody does."""

    def interfaces(self) -> tuple[Interface, ...]:
        """Every interface with its addresses."""


class Memory(Protocol):
    """RAM as far as this process may use it, and shared memory."""

    def total_bytes(self) -> int:
        """RAM of the machine, or of the control group where that is less."""

    def available_bytes(self) -> int:
        """What can be taken without swapping, the control group's limit included."""

    def cgroup(self) -> CgroupMemory | None:
        """The tightest memory limit, None without one."""

    def shm(self) -> Space:
        """Size and free space of /dev/shm."""


class Disks(Protocol):
    """File systems; a path that does not exist yet stands for its nearest existing parent."""

    def free_bytes(self, path: Path) -> int:
        """Bytes an ordinary user may still write there."""

    def free_inodes(self, path: Path) -> int:
        """Files that may still be made there; -1 where the file system has no such limit."""

    def writable(self, path: Path) -> bool:
        """Whether a file can be made there; it is tried, and leaves nothing behind."""

    def file_system(self, path: Path) -> str:
        """The type of the file system: ext4, tmpfs, nfs4..."""


class Limits(Protocol):
    """What the kernel allows this process."""

    def open_files(self) -> Limit:
        """RLIMIT_NOFILE of this process."""

    def core_pattern(self) -> str:
        """Where the kernel writes core files, or the program it pipes them to."""

    def core_limit(self) -> Limit:
        """RLIMIT_CORE of this process, bytes."""

    def cpu_count(self) -> float:
        """CPUs this process may use: affinity and cgroup quota count, so it may be a fraction."""

    def ptrace_scope(self) -> int | None:
        """Yama's setting 0 to 3; None where the kernel has no Yama."""

    def can_trace_all(self) -> bool:
        """Holds CAP_SYS_PTRACE."""


class Child(Protocol):
    """Runs one program to its end or its deadline; nothing of it is left afterwards."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        """`env` changes single variables of the inherited environment; None removes one.

        Raises ChildTimeout past the deadline and MachineError where the program cannot be started.
        """


class Ranks(Protocol):
    """Two ways to run N ranks, and the warm child that has imported torch once."""

    def warm(self, *, for_modules: bool = False) -> None:
        """Starts the warm child in the background; returns at once.

        `for_modules`: ranks will wrap and optimise modules, and what torch imports for that is imported, too.
        """

    def torch_facts(self) -> TorchFacts:
        """Waits for the warm child's hello; MachineError carries the import's last lines."""

    def run_task(
        self,
        task: str,
        nproc: int,
        *,
        backend: str,
        deadline_s: float,
        arguments: Mapping[str, Any] = NOTHING,
        env: Mapping[str, str] = NOTHING,
        idle_s: float = 0.0,
        imports: Sequence[str] = (),
    ) -> list[RankResult]:
        """Runs children/tasks/<task>.py on every rank, forked from the warm child.

        Where `idle_s` is given, ranks that all stand still for so long count as past their deadline. `imports` are
        modules that each rank would import: the warm child does so once for all.
        """

    def run_command(
        self,
        argv: Sequence[str],
        nproc: int,
        *,
        deadline_s: float,
        env: Mapping[str, str] = NOTHING,
        cwd: Path | None = None,
    ) -> list[RankResult]:
        """Starts argv once a rank with the launchers' variables set, without a launcher."""

    def close(self) -> None:
        """Ends the warm child and everything it started; may be called twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Everything a probe may ask of this machine. Leaving the `with` block ends what was started."""

    gpus: Gpus
    processes: Processes
    network: Network
    memory: Memory
    disks: Disks
    limits: Limits
    child: Child
    ranks: Ranks
    environ: Mapping[str, str]  # of this process
    user: str = ""

    def close(self) -> None:
        """Ends every child that is still alive."""
        self.ranks.close()

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
