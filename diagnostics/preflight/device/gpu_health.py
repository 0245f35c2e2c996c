"""ECC errors, throttling and temperature of the GPUs.

What it does: asks NVML of each GPU whether it answers, for uncorrected ECC errors, reasons for lowered clocks, and the
temperature.

Why it matters: one throttled GPU slows all ranks to its pace; uncorrected memory errors end jobs or change values.

Fix: cool or restart the machine, or leave the named GPU out: export CUDA_VISIBLE_DEVICES=<the others>.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import Gpu, MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P504"
NAME = "gpu-health"
STAGE = Stage.DEVICE
REQUIRES: tuple[str, ...] = ()

HARMLESS = ("idle", "power_cap", "power cap", "clocks_setting", "clocks setting", "sync", "display", "none")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each GPU that is sick or held back. Skipped where NVML does not answer."""
    try:
        gpus = machine.gpus.devices()
    except MachineError as error:
        raise Skip(str(error)) from error
    if not gpus:
        raise Skip("no NVIDIA GPU")
    limit_c = config.thresholds.max_temperature_c
    findings = [finding for gpu in gpus for finding in _of(gpu, limit_c)]
    return ProbeResult(title=f"{len(gpus)} GPUs without ECC errors, throttling or heat", findings=tuple(findings))


def _of(gpu: Gpu, limit_c: int) -> list[Finding]:
    if gpu.fault:
        remedy = (
            "restart the machine; a GPU that is lost again, or overheats, needs its hardware looked at (dmesg: Xid)"
        )
        return [_finding(gpu, "gpu-does-not-answer", Severity.ERROR, gpu.fault, "an answer", remedy)]
    return [*_ecc(gpu), *_throttled(gpu), *_hot(gpu, limit_c)]


def _ecc(gpu: Gpu) -> list[Finding]:
    if not gpu.ecc_volatile:
        return []
    text = f"{gpu.ecc_volatile} uncorrected ECC errors since the driver was loaded"
    return [
        _finding(
            gpu,
            "ecc-errors",
            Severity.ERROR,
            text,
            "0",
            "restart the machine; a count that grows again is broken memory",
        )
    ]


def _throttled(gpu: Gpu) -> list[Finding]:
    reasons = [one for one in gpu.throttle_reasons if not any(text in one.lower() for text in HARMLESS)]
    if not reasons:
        return []
    text = f"clocks lowered: {', '.join(reasons)}"
    return [_finding(gpu, "gpu-throttled", Severity.WARNING, text, "full clocks", "look at cooling and power supply")]


def _hot(gpu: Gpu, limit_c: int) -> list[Finding]:
    if gpu.temperature_c is None or gpu.temperature_c < limit_c:
        return []
    text = f"{gpu.temperature_c} C"
    return [_finding(gpu, "gpu-hot", Severity.WARNING, text, f"below {limit_c} C", "look at the cooling")]


def _finding(gpu: Gpu, name: str, severity: Severity, observed: str, expected: str, remedy: str) -> Finding:
    return Finding(
        code=CODE,
        name=name,
        severity=severity,
        title=f"GPU {gpu.index} ({gpu.name}): {observed}",
        where=f"GPU {gpu.index}",
        evidence=(Evidence(source=f"nvidia-smi -q -i {gpu.index}", observed=observed, expected=expected),),
        fix=Fix(text=remedy, commands=(f"nvidia-smi -q -d ECC,PERFORMANCE,TEMPERATURE -i {gpu.index}",)),
    )
