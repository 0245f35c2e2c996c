"""The NVIDIA driver and the CUDA that torch was built for do not fit.

What it does: compares the newest CUDA that the driver serves with the CUDA of the torch build, and finds a
CPU build of torch on a machine with GPUs.

Why it matters: with an old driver `torch.cuda.is_available()` is False or CUDA fails at its first call; with
a CPU build every rank trains on the CPU, or NCCL is "not available".

Fix: update the driver, or install the torch build that fits it.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import Driver, MachineError, TorchFacts
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P111"
NAME = "cuda-driver-fit"
STAGE = Stage.HOST
REQUIRES = ("P110",)
# Oldest Linux driver that runs every minor version of a major one. Source: NVIDIA, "CUDA Toolkit Release Notes", table
# "CUDA Toolkit and Minimum Required Driver Version for CUDA Minor Version Compatibility"; "CUDA Compatibility".
OLDEST_DRIVER: dict[int, tuple[int, ...]] = {11: (450, 80, 2), 12: (525, 60, 13), 13: (580,)}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where torch cannot use the GPUs that are there."""
    facts = machine.ranks.torch_facts()
    try:
        driver = machine.gpus.driver()
        count = len(machine.gpus.devices())
    except MachineError as error:
        if facts.cuda is None:
            raise Skip(f"no GPU to use, and torch {facts.torch} is a CPU build: {error}") from error
        return ProbeResult(title="", findings=(_no_driver(facts, str(error), config.backend),))
    measured = {"driver": driver.version, "driver_cuda": ".".join(map(str, driver.cuda)), "torch_cuda": facts.cuda}
    if count == 0:
        raise Skip("the NVIDIA driver is there and knows no GPU")
    if facts.cuda is None:
        return ProbeResult(title="", findings=(_cpu_build(facts, count, driver),), measured=measured)
    if not _fits(driver, facts.cuda):
        return ProbeResult(title="", findings=(_too_old(facts, driver),), measured=measured)
    title = f"driver {driver.version} serves torch's CUDA {facts.cuda}"
    return ProbeResult(title=title, measured=measured)


def _fits(driver: Driver, cuda: str) -> bool:
    wanted = tuple(int(part) for part in cuda.split(".")[:2])
    if driver.cuda >= wanted:
        return True
    oldest = OLDEST_DRIVER.get(wanted[0])
    return oldest is not None and tuple(map(int, re.findall(r"\d+", driver.version))) >= oldest


def _cpu_build(facts: TorchFacts, count: int, driver: Driver) -> Finding:
    index = f"cu{driver.cuda[0]}{driver.cuda[1]}"
    return Finding(
        code=CODE,
        name="cpu-torch-on-gpu-machine",
        severity=Severity.ERROR,
        title=f"torch {facts.torch} is a CPU build; the {count} GPUs here stay unused",
        where=facts.executable,
        evidence=(
            Evidence(
                source="torch.version.cuda", observed="None", expected=f"{driver.cuda[0]}.{driver.cuda[1]} or less"
            ),
        ),
        fix=Fix(
            text=f"install a CUDA build of torch for CUDA {driver.cuda[0]}.{driver.cuda[1]} ({index}) or older",
            commands=(f"{facts.executable} -m pip uninstall torch", f"{facts.executable} -m pip install torch"),
        ),
    )


def _too_old(facts: TorchFacts, driver: Driver) -> Finding:
    serves = f"{driver.cuda[0]}.{driver.cuda[1]}"
    return Finding(
        code=CODE,
        name="driver-too-old",
        severity=Severity.ERROR,
        title=f"driver {driver.version} serves CUDA {serves}; torch {facts.torch} was built for CUDA {facts.cuda}",
        where="NVIDIA driver",
        evidence=(Evidence(source="nvidia-smi", observed=f"CUDA {serves}", expected=f"CUDA {facts.cuda} or newer"),),
        fix=Fix(text="update the driver, or install a torch built for an older CUDA", commands=("nvidia-smi",)),
    )


def _no_driver(facts: TorchFacts, reason: str, backend: str) -> Finding:
    wants_gpu = backend == "nccl"
    return Finding(
        code=CODE,
        name="no-nvidia-driver",
        severity=Severity.ERROR if wants_gpu else Severity.INFO,
        title=f"torch {facts.torch} is built for CUDA, and no NVIDIA driver answers: ranks run on the CPU",
        where="NVIDIA driver",
        evidence=(Evidence(source="nvidia-smi", observed=reason, expected="a driver"),),
        fix=Fix(text="in a container, start it with its GPUs", commands=("docker run --gpus all ...", "nvidia-smi")),
    )
