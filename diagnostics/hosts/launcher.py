"""The hosts that srun, mpirun or torchrun have started this command on, from the variables that they set."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from diagnostics.core.errors import UsageError

PORTS = range(29700, 30700)  # above torchrun's 29500 and what people count up from it, below the ephemeral ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """This task's place. One task a host takes part, the first on it; `names` is () where the launcher tells none."""

    launcher: str
    number: int  # of this host
    hosts: int
    takes_part: bool
    first: str  # name or address of host 0
    port: int
    run_id: str
    names: tuple[str, ...] = ()


def launched(environ: Mapping[str, str], *, asked: bool) -> Launched | None:
    """Returns where a launcher has put this task, None where none has started it on several hosts.

    RANK and WORLD_SIZE alone may be left over in a shell: they count where `asked`. Raises UsageError where a launcher
    is there and does not say where the first host is, or where it was asked for and is not there.
    """
    found = _slurm(environ) or _mpi(environ) or (_torch(environ) if asked else None)
    if found is None and asked:
        raise UsageError(
            "--hosts env: no launcher has started this on several hosts",
            hint="srun -N 4 --ntasks-per-node 1 ups-doctor preflight; or name the hosts in a file: --hosts FILE",
        )
    return found


def _slurm(environ: Mapping[str, str]) -> Launched | None:
    # These are set for a step of srun only; a batch script has SLURM_NTASKS too, and is one process.
    hosts = _number(environ, "SLURM_STEP_NUM_NODES")
    if hosts < 2 or "SLURM_PROCID" not in environ:
        return None
    names = tuple(host_names(environ.get("SLURM_STEP_NODELIST", "")))
    run_id = f"slurm{environ.get('SLURM_JOB_ID', '')}.{environ.get('SLURM_STEP_ID', '')}"
    return Launched(
        launcher="srun",
        number=_number(environ, "SLURM_NODEID"),
        hosts=hosts,
        takes_part=environ.get("SLURM_LOCALID", "0") == "0",
        first=environ.get("MASTER_ADDR") or (names[0] if names else ""),
        port=port_for(run_id),
        run_id=run_id,
        names=names if len(names) == hosts else (),
    )


def _mpi(environ: Mapping[str, str]) -> Launched | None:
    for size, rank, local_size, local_rank, name in (
        (
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "mpirun",
        ),
        ("PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "mpiexec"),
    ):
        a_host = max(_number(environ, local_size), 1)
        hosts = _number(environ, size) // a_host
        if hosts > 1:
            return _with_master(environ, name, hosts, _number(environ, rank) // a_host, environ.get(local_rank, "0"))
    return None


def _torch(environ: Mapping[str, str]) -> Launched | None:
    a_host = max(_number(environ, "LOCAL_WORLD_SIZE"), 1)
    hosts = _number(environ, "WORLD_SIZE") // a_host
    if hosts < 2:
        return None
    number = _number(environ, "RANK") // a_host
    return _with_master(environ, "the launcher", hosts, number, environ.get("LOCAL_RANK", "0"))


def _with_master(environ: Mapping[str, str], name: str, hosts: int, number: int, local: str) -> Launched:
    first = environ.get("MASTER_ADDR", "")
    if not first:
        raise UsageError(
            f"{name} has started this on {hosts} hosts and does not say which is the first",
            hint="mpirun -x MASTER_ADDR=$(hostname) ... ups-doctor preflight --hosts env",
        )
    run_id = environ.get("TORCHELASTIC_RUN_ID") or environ.get("PMIX_NAMESPACE") or f"{first}.{hosts}"
    return Launched(
        launcher=name,
        number=number,
        hosts=hosts,
        takes_part=local == "0",
        first=first,
        port=port_for(f"{run_id}.{environ.get('MASTER_PORT', '')}"),
        run_id=run_id,
    )


def port_for(run_id: str) -> int:
    """Returns the port of a run, the same on all its hosts; two runs on one host rarely share it."""
    return PORTS[zlib.crc32(run_id.encode()) % len(PORTS)]


def host_names(text: str) -> list[str]:
    """Returns the names of Slurm's short form: `n[1-3,7],gpu-[08-10]`; [] for what is no such form."""
    parts, inside = [""], False
    for char in text:
        inside = char == "[" or (inside and char != "]")
        if char == "," and not inside:
            parts.append("")
        else:
            parts[-1] += char
    return [name for part in parts if part for name in _expanded(part)]


def _expanded(part: str) -> list[str]:
    head, bracket, rest = part.partition("[")
    if not bracket:
        return [head]
    inside, _, tail = rest.partition("]")
    tails = _expanded(tail) if tail else [""]
    return [f"{head}{number}{after}" for one in inside.split(",") for number in _numbers(one) for after in tails]


def _numbers(word: str) -> list[str]:
    first, dash, last = word.partition("-")
    if not dash:
        return [word]
    if not (first.isdigit() and last.isdigit()) or int(last) - int(first) > 100_000:
        return []
    return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]


def _number(environ: Mapping[str, str], name: str) -> int:
    value = environ.get(name, "")
    return int(value) if value.isdigit() and len(value) < 9 else 0
