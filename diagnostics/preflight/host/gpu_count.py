"""Fewer GPUs than ranks, or GPUs that others use.

What it does: counts the GPUs by NVML, applies CUDA_VISIBLE_DEVICES, compares with the ranks, and names the
processes that already use one of them.

Why it matters: two ranks on one GPU end NCCL with "Duplicate GPU detected"; memory that another process holds
is missing from the first step on.

Fix: fewer ranks, a right CUDA_VISIBLE_DEVICES, or end the process that holds the GPU.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import format_bytes
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import Gpu, MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P112"
NAME = "gpu-count"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
VISIBLE = "CUDA_VISIBLE_DEVICES"


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns findings for missing GPUs and for busy ones; skipped without GPUs and without need of any."""
    try:
        gpus = tuple(gpu for gpu in machine.gpus.devices() if not gpu.fault)
    except MachineError as error:
        if config.backend != "nccl":
            raise Skip(f"no GPU: {error}") from error
        gpus = ()
    if not gpus and config.backend != "nccl":
        raise Skip("no GPU")
    setting = machine.environ.get(VISIBLE)
    seen, nonsense = visible(gpus, setting)
    measured = {"gpus": len(gpus), "visible": len(seen), "ranks": config.nproc}
    findings = [_nonsense(nonsense, setting or "", len(gpus))] if nonsense else []
    if len(seen) < config.nproc and config.backend != "gloo":
        findings.append(_too_few(len(seen), len(gpus), setting, config))
    own = machine.processes.own_family()
    findings += [found for gpu in seen if (found := _busy(machine, gpu, own)) is not None]
    title = f"{len(seen)} of {len(gpus)} GPUs visible: {', '.join(sorted({gpu.name for gpu in seen}))}"
    return ProbeResult(title=title, findings=tuple(findings), measured=measured)


def visible(gpus: tuple[Gpu, ...], setting: str | None) -> tuple[tuple[Gpu, ...], str]:
    """Returns the GPUs that CUDA shows, and the first entry that names none.

    CUDA takes the entries up to the first one it cannot resolve, and hides the rest without a word.
    """
    if setting is None:
        return gpus, ""
    seen: list[Gpu] = []
    for entry in filter(None, (part.strip() for part in setting.split(","))):
        if entry.startswith("MIG-"):
            return gpus, ""  # slices of a GPU are not counted here
        found = [
            gpu for gpu in gpus if entry == str(gpu.index) or (entry.startswith("GPU-") and gpu.uuid.startswith(entry))
        ]
        if not found:
            return tuple(seen), "" if entry == "-1" else entry
        seen.append(found[0])
    return tuple(seen), ""


def _nonsense(entry: str, setting: str, count: int) -> Finding:
    return Finding(
        code=CODE,
        name="cuda-visible-devices-names-no-gpu",
        severity=Severity.ERROR,
        title=f"{VISIBLE}={setting}: {entry!r} is no GPU of this machine; CUDA hides it and all after it",
        where=VISIBLE,
        evidence=(Evidence(source=f"echo ${VISIBLE}", observed=setting, expected=f"numbers 0 to {count - 1}"),),
        fix=Fix(text="name GPUs that exist", commands=("nvidia-smi -L", f"unset {VISIBLE}")),
    )


def _too_few(seen: int, count: int, setting: str | None, config: PreflightConfig) -> Finding:
    why = f" ({VISIBLE}={setting} hides {count - seen})" if setting is not None and seen < count else ""
    return Finding(
        code=CODE,
        name="fewer-gpus-than-ranks",
        severity=Severity.ERROR if config.backend == "nccl" else Severity.WARNING,
        title=f"{config.nproc} ranks were asked for; {seen} GPUs are visible{why}",
        where="GPUs",
        evidence=(Evidence(source="nvidia-smi -L", observed=f"{seen} GPUs", expected=f"{config.nproc}"),),
        fix=Fix(
            text="start one rank a GPU, or use gloo",
            commands=(f"ups-doctor preflight --nproc {seen}",) if seen else ("ups-doctor preflight --backend gloo",),
        ),
    )


def _busy(machine: Machine, gpu: Gpu, own: frozenset[int]) -> Finding | None:
    others = [item for item in gpu.processes if item.pid not in own]
    if not others:
        return None
    names = []
    for item in others:
        process = machine.processes.find(item.pid)
        # In a container NVML gives pids of the host, which stand for nothing or for others in here.
        command = f" ({process.command}) of {process.user}" if process else " (outside this container)"
        names.append(f"pid {item.pid}{command}")
    used, total = format_bytes(gpu.memory_used_bytes), format_bytes(gpu.memory_total_bytes)
    return Finding(
        code=CODE,
        name="gpu-in-use",
        severity=Severity.WARNING,
        title=f"GPU {gpu.index} is used by {', '.join(names)}: {used} of {total} taken",
        where=f"GPU {gpu.index}",
        evidence=(Evidence(source="nvidia-smi", observed=f"{used} of {total}", expected="no other process"),),
        fix=Fix(text="wait for it, end it if it is yours, or take other GPUs", commands=("nvidia-smi",)),
    )
