"""The process group, from the first rank to the last thread: the only file that makes or ends one.

Order: `begin` (device, group, barrier), the work, `end` (barrier, destroy, its threads gone). What the
ranks must agree on, they agree on here.

What only one rank sees inside of a step, all agree on (ups.agreement). On any other failure of one rank it ends with
one sentence and its connections close; the launcher ends the others. No rank ever skips a batch that another rank
trains on.
"""

from __future__ import annotations

import gc
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch

# Not for use: its functions have `group=group.WORLD` as a default, evaluated at import. DDP imports it
# lazily, after the group was made, and those defaults then keep the group, and its threads, alive for
# ever: destroy_process_group() ends nothing, and a thread of gloo that wakes up while the interpreter
# shuts down aborts the process ("terminate called without an active exception", one healthy run in eight).
# Imported here, before there is a group, the defaults are None.
import torch.distributed.nn
from torch import distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from diagnostics.api import DoctorError, UsageError
from ups.config import Backend
from ups.errors import AgreedError, ConfigError, UpsError

THREADS_OF_A_GROUP = ("gloo", "pt_gloo", "pt_tcpstore")
THREADS_END_S = 5.0  # they were seen to end within 1 ms of the last reference
_MESHES: list[DeviceMesh] = []  # DTensor's caches keep each of them for ever, and with it its groups
ALIVE_S = 2.0  # how often a rank that works alone tells the others, whose collective would time out


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """This rank's place among the ranks, and the device it computes on."""

    rank: int
    local_rank: int
    size: int
    backend: str
    device: torch.device
    fallback: str = ""  # why gloo serves although there are GPUs, or nccl was asked for

    @property
    def is_first(self) -> bool:
        """True on the one rank that prints and writes."""
        return self.rank == 0


def begin(*, backend: Backend = "auto", timeout_s: float = 120.0, environ: Mapping[str, str] = os.environ) -> World:
    """Makes the process group from RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; returns the world.

    The device is chosen by LOCAL_RANK, never by RANK: on a second node rank 2 owns device 0. Raises
    ConfigError where the backend or a device is not there, UpsError where the ranks do not meet.
    """
    rank, local_rank, size = (place_number(environ, name) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
    chosen, fallback = choose_backend(backend, cuda=torch.cuda.is_available(), nccl=dist.is_nccl_available())
    device = _device(chosen, local_rank)
    try:
        dist.init_process_group(
            chosen,
            timeout=timedelta(seconds=timeout_s),
            device_id=device if device.type == "cuda" else None,
            **_fresh_store(rank, size, timeout_s, environ),
        )
        dist.barrier()
    except (RuntimeError, ValueError) as error:
        raise UpsError(
            f"rank {rank} of {size} did not meet the other ranks on {chosen}: {first_line(error)}",
            hint="ups-doctor preflight --stages rendezvous",
        ) from error
    return World(rank=rank, local_rank=local_rank, size=size, backend=chosen, device=device, fallback=fallback)


def alone() -> World:
    """Returns the world of one process that works by itself, on the CPU, without a group."""
    return World(rank=0, local_rank=0, size=1, backend="none", device=torch.device("cpu"))


def _fresh_store(rank: int, size: int, timeout_s: float, environ: Mapping[str, str]) -> dict[str, Any]:
    """Returns a store of its own for ranks that torchrun has started again on one machine, else nothing.

    torchrun keeps one store for all attempts, in which gloo would find the addresses of ranks that have died. On
    several machines ranks may differ in what number of attempt they are told, and a common name cannot be had.
    """
    attempt = environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    shared = environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" and environ.get("LOCAL_WORLD_SIZE") == str(size)
    if attempt == "0" or not shared:
        return {}
    timeout = timedelta(seconds=timeout_s)
    stores: Any = dist
    server = stores.TCPStore(environ["MASTER_ADDR"], int(environ["MASTER_PORT"]), is_master=False, timeout=timeout)
    return {"store": stores.PrefixStore(f"attempt-{attempt}", server), "rank": rank, "world_size": size}


def mesh(device: torch.device, sizes: Mapping[str, int]) -> DeviceMesh:
    """Returns a mesh of the ranks with axes of these names and sizes; their product is the number of ranks."""
    made = init_device_mesh(device.type, tuple(sizes.values()), mesh_dim_names=tuple(sizes))
    _MESHES.append(made)
    return made


def end(*, healthy: bool = True) -> None:
    """Destroys the group and waits until its threads are gone; only then may the interpreter shut down.

    The caller holds no DDP module, optimizer or exception any more: each keeps the group alive. After a
    failure (`healthy` False) there is no barrier: the others may never come. Raises UpsError when the
    threads of a healthy run stay, naming them.
    """
    if not dist.is_initialized():
        return
    if healthy:
        dist.barrier()  # nobody takes the store away while another rank still talks to it
    while _MESHES:
        vars(_MESHES.pop()).get("_pg_registry", {}).clear()
    dist.destroy_process_group()
    gc.collect()  # DDP modules are cycles
    deadline = time.monotonic() + THREADS_END_S
    while (left := group_threads()) and time.monotonic() < deadline:
        time.sleep(0.002)
    if left and healthy:
        raise UpsError(f"threads of the process group are still there after {THREADS_END_S:g} s: {', '.join(left)}")


def group_threads() -> list[str]:
    """Returns the names of the live threads that belong to a process group."""
    names = []
    for task in Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:  # ended between the listing and the reading
            continue
    return sorted(name for name in names if name.startswith(THREADS_OF_A_GROUP))


def choose_backend(wanted: Backend, *, cuda: bool, nccl: bool) -> tuple[str, str]:
    """Returns the backend and, where it is not the natural one, the sentence that says so."""
    if wanted == "nccl" and not (cuda and nccl):
        lack = "this torch was built without NCCL" if cuda else "there is no GPU"
        raise ConfigError(f"backend nccl was asked for, but {lack}", hint="--backend gloo runs on the CPU")
    if wanted == "auto" and cuda and not nccl:
        return "gloo", "this torch was built without NCCL: the ranks talk over gloo, on the CPU"
    if wanted == "gloo" and cuda:
        return "gloo", "backend gloo was asked for: the GPUs are not used"
    return ("nccl" if wanted != "gloo" and cuda else "gloo"), ""


def lost_peer(error: Exception) -> bool:
    """True for what a collective raises when another rank is gone or late: never the first failure of a run."""
    return isinstance(error, dist.DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error))


def out_of_memory(error: Exception) -> str:
    """Returns the sentence for an allocation that was refused, "" for any other error."""
    text = first_line(error)
    refused = "can't allocate memory" in text or "not enough memory" in text
    if isinstance(error, torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and refused):
        return f"the device has no memory left: {text}"
    return "this process has no memory left" if isinstance(error, MemoryError) else ""


def sums(values: Sequence[float | torch.Tensor], world: World) -> list[float]:
    """Returns the sums over all ranks, in float64."""
    total = torch.tensor([float(value) for value in values], dtype=torch.float64, device=world.device)
    if world.size > 1:
        dist.all_reduce(total)
    return [float(value) for value in total]


def most(values: Sequence[float], world: World) -> list[float]:
    """Returns the largest of each value over all ranks."""
    if world.size == 1:
        return list(values)
    largest = torch.tensor(values, dtype=torch.float64, device=world.device)
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    return [float(value) for value in largest.tolist()]


def to_first(value: Any, world: World) -> list[Any] | None:
    """Returns what each rank gave, by rank, on rank 0; None on the others."""
    if world.size == 1:
        return [value]
    values: list[Any] | None = [None] * world.size if world.is_first else None
    dist.gather_object(value, values)
    return values


def on_all_ranks(value: Any, world: World) -> list[Any]:
    """Returns what each rank gave, by rank, on every rank; values are small and picklable."""
    if world.size == 1:
        return [value]
    values: list[Any] = [None] * world.size
    dist.all_gather_object(values, value)
    return values


def from_first(value: Any, world: World) -> Any:
    """Returns what rank 0 gave, on every rank."""
    if world.size == 1:
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def first_decides(work: Callable[[Callable[[], None]], Any], world: World) -> Any:
    """Returns what `work(alive)` gives on rank 0, on every rank; what it raises there, every rank raises.

    A DoctorError becomes an AgreedError. Anything else ends rank 0 with its own traceback and the others with
    an AgreedError, so that nobody waits for what does not come. `work` calls `alive` now and then: the others
    may then wait for longer than a collective's timeout.
    """
    if not world.is_first:
        return _from_first_at_last(world)
    told = time.monotonic()

    def alive() -> None:
        nonlocal told
        # Every broadcast meets one of the others' in _from_first_at_last, which asks on until there is an answer.
        if time.monotonic() - told > ALIVE_S:  # ups: ignore[A204] they wait for any number of them
            from_first(None, world)
            told = time.monotonic()

    try:
        value = work(alive)
    except DoctorError as error:
        agreed = error if isinstance(error, (UsageError, AgreedError)) else AgreedError.of(error)
        from_first(agreed, world)  # ups: ignore[A207] the answer that the others wait for
        raise agreed from error
    except Exception as error:
        failed = AgreedError(f"rank 0: {type(error).__name__}: {first_line(error)}")
        from_first(failed, world)  # ups: ignore[A207] the answer that the others wait for
        raise
    from_first((value,), world)
    return value


def _from_first_at_last(world: World) -> Any:
    while (said := from_first(None, world)) is None:
        pass
    if isinstance(said, DoctorError):
        raise said
    return said[0]


def barrier(world: World) -> None:
    """Waits until every rank is here."""
    if world.size > 1:
        dist.barrier()


def random_state(device: torch.device) -> dict[str, Any]:
    """Returns the state of every random generator of this rank, as a checkpoint can hold it."""
    kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    state = {
        "python": random.getstate(),
        "numpy": [kind, torch.from_numpy(np.asarray(keys, dtype=np.int64)), position, has_gauss, cached],
        "torch": torch.get_rng_state(),
    }
    return state | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def set_random_state(state: Mapping[str, Any], device: torch.device) -> None:
    """Puts every random generator of this rank where `random_state` found it."""
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
    kind, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"])
    if device.type == "cuda" and "cuda" in state:  # a run that began on the CPU has none
        torch.cuda.set_rng_state(state["cuda"], device)


def seed_everything(seed: int, rank: int) -> None:
    """Seeds this rank's generators; ranks differ, so that their dropout does."""
    random.seed(seed * 1_000_003 + rank)
    np.random.seed((seed * 1_000_003 + rank) % 2**32)
    torch.manual_seed(seed * 1_000_003 + rank)


def _device(backend: str, local_rank: int) -> torch.device:
    if backend != "nccl":
        return torch.device("cpu")
    visible = torch.cuda.device_count()
    if local_rank >= visible:
        raise ConfigError(
            f"LOCAL_RANK {local_rank} is outside the {visible} visible GPUs",
            hint=f"start {visible} ranks (--nproc {visible}), or look at CUDA_VISIBLE_DEVICES",
        )
    torch.cuda.set_device(local_rank)  # before the group: NCCL would take device 0 on every rank
    return torch.device("cuda", local_rank)


def place_number(environ: Mapping[str, str], name: str) -> int:
    """Returns RANK, LOCAL_RANK or WORLD_SIZE. Raises ConfigError where it is not set, or is no number."""
    try:
        return int(environ[name])
    except (KeyError, ValueError):
        seen = f"is {environ[name]!r}" if name in environ else "is not set"
        raise ConfigError(f"{name} {seen}: ranks are started by `ups train` or torchrun") from None


def first_line(error: Exception) -> str:
    """Returns what an exception says, without the pages that torch puts behind it."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
