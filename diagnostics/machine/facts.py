"""What the providers of `machine/` answer with: plain values, with units in their names, no judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, Any] = MappingProxyType({})


class MachineError(Exception):
    """The machine could not be asked; the argument says why (NVML absent, torch does not import)."""


class Space(NamedTuple):
    """A file system's size and what is still free of it."""

    total_bytes: int
    free_bytes: int


class Limit(NamedTuple):
    """A resource limit; a process may raise soft up to hard by itself. -1 is no limit."""

    soft: int
    hard: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupMemory:
    """The tightest memory limit of the control groups this process is in."""

    limit_bytes: int
    used_bytes: int  # without page cache that can be dropped
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """A process that has a context on a GPU; `memory_bytes` is None where the driver does not tell."""

    pid: int
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as NVML sees it; None stands for what this model does not report."""

    index: int
    name: str
    uuid: str
    memory_used_bytes: int
    memory_total_bytes: int
    ecc_volatile: int | None = None  # uncorrected errors since the driver was loaded
    ecc_aggregate: int | None = None  # uncorrected errors over the GPU's life
    throttle_reasons: tuple[str, ...] = ()
    temperature_c: int | None = None
    processes: tuple[GpuProcess, ...] = ()
    fault: str = ""  # why it does not answer, as NVML says it: "GPU is lost"; then nothing else is known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The NVIDIA kernel driver and the newest CUDA it serves, as (major, minor)."""

    version: str
    cuda: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """One process of this machine; fields that may not be read are empty."""

    pid: int
    ppid: int
    user: str
    argv: tuple[str, ...]
    cwd: str = ""
    started: float = 0.0  # seconds since the epoch
    variables: Mapping[str, str] = field(default_factory=dict)  # the launchers' variables it was started with

    @property
    def command(self) -> str:
        """The command line, cut to one readable length."""
        line = " ".join(self.argv)
        return line if len(line) <= 120 else f"{line[:117]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class PortHolder:
    """Who listens on a port; `process` is None where the owner is hidden from this user."""

    port: int
    address: str
    user: str = ""
    process: ProcessInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One network interface with its IPv4 and IPv6 addresses."""

    name: str
    addresses: tuple[str, ...]
    up: bool
    loopback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildResult:
    """How a child ended; `signal` is the number that killed it, else None. Output is head and tail."""

    argv: tuple[str, ...]
    returncode: int
    signal: int | None
    stdout: str
    stderr: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchFacts:
    """The hello of the warm child: what `import torch` gave under the job's interpreter."""

    python: str  # "3.11.7"
    executable: str
    torch: str  # "2.13.0+cu128"
    cuda: str | None  # the CUDA torch was built for, None for a CPU build
    nccl: str | None  # "2.27.3"
    device_count: int  # GPUs that torch can use
    gloo_available: bool
    nccl_available: bool
    import_seconds: float
    torch_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankResult:
    """How one rank ended; `answer` is the JSON its task returned, {} if none."""

    rank: int
    pid: int
    returncode: int | None
    signal: int | None
    answer: Mapping[str, Any]
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    ended: bool = False  # by the doctor: the deadline passed, or a peer had failed


class ChildTimeout(Exception):  # noqa: N818 - becomes the outcome of that name
    """A child did not answer within its deadline; the argument says what was seen of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One process at one moment. "" and None stand for what may not be read."""

    state: str  # of its main thread: R running, S sleeping, D inside the kernel, T stopped, t traced, Z dead
    waits_in: str  # the kernel function its main thread sleeps in
    system_call: str  # number and arguments as the kernel writes them
    main_cpu_s: float  # of the main thread
    switches: int | None  # how often the main thread gave its CPU away by itself
    cpu_s: float  # of all its threads
    bytes_moved: int
    reaped_cpu_s: float = 0.0  # of children it has waited for, what each used in all of its life
