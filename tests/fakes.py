"""Machines that are not there: each provider as a fake that answers, and as its failing twin.

machine = fake_machine(gpus=FakeGpus([...]), memory=FailingMemory())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import (
    NOTHING,
    CgroupMemory,
    ChildResult,
    ChildTimeout,
    Driver,
    Gpu,
    Interface,
    Limit,
    MachineError,
    PortHolder,
    ProcessInfo,
    RankResult,
    Space,
    TorchFacts,
)
from diagnostics.preflight.probe import PreflightConfig

GIB = 1 << 30
DRIVER = Driver(version="570.86.10", cuda=(12, 8))
HALF_FREE = Space(32 * GIB, 16 * GIB)
MANY_FILES = Limit(1_048_576, 1_048_576)
UNLIMITED = Limit(-1, -1)


@dataclass
class FakeGpus:
    found: Sequence[Gpu] = ()
    kernel_driver: Driver = DRIVER

    def devices(self) -> tuple[Gpu, ...]:
        return tuple(self.found)

    def driver(self) -> Driver:
        return self.kernel_driver


class FailingGpus:
    """A machine without an NVIDIA driver."""

    def devices(self) -> tuple[Gpu, ...]:
        raise MachineError("the NVIDIA driver is not loaded (NVML: Driver Not Loaded)")

    def driver(self) -> Driver:
        raise MachineError("the NVIDIA driver is not loaded (NVML: Driver Not Loaded)")


@dataclass
class FakeProcesses:
    alive: Sequence[ProcessInfo] = ()
    family: frozenset[int] = frozenset({1})

    def table(self) -> tuple[ProcessInfo, ...]:
        return tuple(self.alive)

    def find(self, pid: int) -> ProcessInfo | None:
        return next((process for process in self.alive if process.pid == pid), None)

    def own_family(self) -> frozenset[int]:
        return self.family


class FailingProcesses:
    """A machine whose /proc is hidden."""

    def table(self) -> tuple[ProcessInfo, ...]:
        raise MachineError("/proc cannot be read")

    def find(self, pid: int) -> ProcessInfo | None:
        raise MachineError("/proc cannot be read")

    def own_family(self) -> frozenset[int]:
        raise MachineError("/proc cannot be read")


@dataclass
class FakeNetwork:
    holders: Mapping[int, PortHolder] = field(default_factory=dict)
    next_free: int = 29400
    cards: Sequence[Interface] = (Interface(name="lo", addresses=("127.0.0.1",), up=True, loopback=True),)

    def free_port(self) -> int:
        return self.next_free

    def is_free(self, port: int) -> bool:
        return port not in self.holders

    def port_holder(self, port: int) -> PortHolder | None:
        return self.holders.get(port)

    def interfaces(self) -> tuple[Interface, ...]:
        return tuple(self.cards)


class FailingNetwork:
    """A machine that gives no port."""

    def free_port(self) -> int:
        raise MachineError("no TCP port is free")

    def is_free(self, port: int) -> bool:
        raise MachineError("sockets are not permitted")

    def port_holder(self, port: int) -> PortHolder | None:
        raise MachineError("/proc/net/tcp cannot be read")

    def interfaces(self) -> tuple[Interface, ...]:
        raise MachineError("interfaces cannot be listed")


@dataclass
class FakeMemory:
    total: int = 64 * GIB
    available: int = 48 * GIB
    limit: CgroupMemory | None = None
    shared: Space = HALF_FREE

    def total_bytes(self) -> int:
        return self.total

    def available_bytes(self) -> int:
        return self.available

    def cgroup(self) -> CgroupMemory | None:
        return self.limit

    def shm(self) -> Space:
        return self.shared


class FailingMemory:
    """A machine without /proc/meminfo and /dev/shm."""

    def total_bytes(self) -> int:
        raise MachineError("/proc/meminfo cannot be read")

    def available_bytes(self) -> int:
        raise MachineError("/proc/meminfo cannot be read")

    def cgroup(self) -> CgroupMemory | None:
        raise MachineError("/sys/fs/cgroup cannot be read")

    def shm(self) -> Space:
        raise MachineError("no shared memory is mounted")


@dataclass
class FakeDisks:
    free: int = 200 * GIB
    inodes: int = 10_000_000
    may_write: bool = True
    kind: str = "ext4"

    def free_bytes(self, path: Path) -> int:
        return self.free

    def free_inodes(self, path: Path) -> int:
        return self.inodes

    def writable(self, path: Path) -> bool:
        return self.may_write

    def file_system(self, path: Path) -> str:
        return self.kind


class FailingDisks:
    """A stale network mount."""

    def free_bytes(self, path: Path) -> int:
        raise MachineError(f"{path}: stale file handle")

    def free_inodes(self, path: Path) -> int:
        raise MachineError(f"{path}: stale file handle")

    def writable(self, path: Path) -> bool:
        raise MachineError(f"{path}: stale file handle")

    def file_system(self, path: Path) -> str:
        raise MachineError(f"{path}: stale file handle")


@dataclass
class FakeLimits:
    files: Limit = MANY_FILES
    pattern: str = "core"
    core: Limit = UNLIMITED
    cpus: float = 16.0
    scope: int | None = 0
    traces_all: bool = False

    def open_files(self) -> Limit:
        return self.files

    def core_pattern(self) -> str:
        return self.pattern

    def core_limit(self) -> Limit:
        return self.core

    def cpu_count(self) -> float:
        return self.cpus

    def ptrace_scope(self) -> int | None:
        return self.scope

    def can_trace_all(self) -> bool:
        return self.traces_all


class FailingLimits:
    """A kernel that does not tell."""

    def open_files(self) -> Limit:
        raise MachineError("limits cannot be read")

    def core_pattern(self) -> str:
        raise MachineError("/proc/sys/kernel/core_pattern cannot be read")

    def core_limit(self) -> Limit:
        raise MachineError("limits cannot be read")

    def cpu_count(self) -> float:
        raise MachineError("the affinity cannot be read")

    def ptrace_scope(self) -> int | None:
        raise MachineError("/proc/sys/kernel/yama cannot be read")

    def can_trace_all(self) -> bool:
        raise MachineError("/proc/self/status cannot be read")


def child_result(stdout: str = "", *, stderr: str = "", returncode: int = 0, seconds: float = 0.1) -> ChildResult:
    """Returns how a fake child ended."""
    signal = -returncode if returncode < 0 else None
    return ChildResult(
        argv=("fake",), returncode=returncode, signal=signal, stdout=stdout, stderr=stderr, seconds=seconds
    )


@dataclass
class FakeChild:
    """Answers with `reply(argv)`, or with one fixed result; remembers what was run."""

    reply: Callable[[Sequence[str]], ChildResult] | ChildResult = field(default_factory=child_result)
    ran: list[tuple[str, ...]] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        self.ran.append(tuple(argv))
        return self.reply(argv) if callable(self.reply) else self.reply


class FailingChild:
    """A program that cannot be started."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        raise MachineError(f"cannot start {argv[0]}: Permission denied")


class LateChild:
    """A program that gives no answer."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        raise ChildTimeout(f"{' '.join(argv)} gave no answer within {deadline_s:g} s; it was ended")


TORCH = TorchFacts(
    python="3.11.7",
    executable="/opt/job/bin/python",
    torch="2.13.0+cpu",
    cuda=None,
    nccl=None,
    device_count=0,
    gloo_available=True,
    nccl_available=False,
    import_seconds=1.1,
)


def rank_results(answers: Sequence[Mapping[str, Any]]) -> list[RankResult]:
    """Returns one healthy result a rank."""
    return [
        RankResult(
            rank=rank, pid=4000 + rank, returncode=0, signal=None, answer=answer, stdout="", stderr="", seconds=0.1
        )
        for rank, answer in enumerate(answers)
    ]


@dataclass
class FakeRanks:
    """Answers every task with `answers`; remembers what was asked."""

    answers: Sequence[RankResult] = ()
    facts: TorchFacts = TORCH
    asked: list[str] = field(default_factory=list)

    def warm(self, *, for_modules: bool = False) -> None:
        self.asked.append("warm")

    def torch_facts(self) -> TorchFacts:
        return self.facts

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
        self.asked.append(task)
        return list(self.answers)

    def run_command(
        self,
        argv: Sequence[str],
        nproc: int,
        *,
        deadline_s: float,
        env: Mapping[str, str] = NOTHING,
        cwd: Path | None = None,
    ) -> list[RankResult]:
        self.asked.append(" ".join(argv))
        return list(self.answers)

    def close(self) -> None:
        self.asked.append("close")


class FailingRanks(FakeRanks):
    """A Python whose torch does not import."""

    def torch_facts(self) -> TorchFacts:
        raise MachineError("import torch: ModuleNotFoundError: No module named 'torch'")

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
        raise MachineError("import torch: ModuleNotFoundError: No module named 'torch'")

    def run_command(
        self,
        argv: Sequence[str],
        nproc: int,
        *,
        deadline_s: float,
        env: Mapping[str, str] = NOTHING,
        cwd: Path | None = None,
    ) -> list[RankResult]:
        raise MachineError(f"cannot start {argv[0]}: No such file or directory")


def fake_machine(**providers: Any) -> Machine:
    """Returns a healthy machine with 16 cores and no GPU; keywords replace providers."""
    healthy: dict[str, Any] = {
        "gpus": FailingGpus(),  # as where no driver is installed
        "processes": FakeProcesses(),
        "network": FakeNetwork(),
        "memory": FakeMemory(),
        "disks": FakeDisks(),
        "limits": FakeLimits(),
        "child": FakeChild(),
        "ranks": FakeRanks(),
        "environ": {},
        "user": "ada",
    }
    return Machine(**{**healthy, **providers})


def broken_machine() -> Machine:
    """Returns a machine where nothing can be asked."""
    return fake_machine(
        gpus=FailingGpus(),
        processes=FailingProcesses(),
        network=FailingNetwork(),
        memory=FailingMemory(),
        disks=FailingDisks(),
        limits=FailingLimits(),
        child=FailingChild(),
        ranks=FailingRanks(),
    )


def preflight_config(record_dir: Path, **changes: Any) -> PreflightConfig:
    """Returns a configuration of two gloo ranks; keywords replace its fields."""
    plain: dict[str, Any] = {
        "python": "/opt/job/bin/python",
        "nproc": 2,
        "backend": "gloo",
        "record_dir": record_dir,
        "thresholds": Thresholds(),
    }
    return PreflightConfig(**{**plain, **changes})
