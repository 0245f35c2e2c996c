"""NVML's answers become facts: in a real child, whose NVML bindings know two GPUs that are not there."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.facts import ChildResult, Driver, Gpu, GpuProcess

PROJECT = Path(__file__).parent.parent.parent
ASK = "from diagnostics.machine.host.gpus import NvmlGpus; print(repr((NvmlGpus().devices(), NvmlGpus().driver())))"
FIRST = Gpu(
    index=0,
    name="NVIDIA H100 80GB HBM3",
    uuid="GPU-0",
    memory_used_bytes=1 << 30,
    memory_total_bytes=80 << 30,
    ecc_volatile=2,
    ecc_aggregate=7,
    temperature_c=40,
    processes=(GpuProcess(pid=4121, memory_bytes=1 << 30),),
)
SECOND = replace(
    FIRST,
    index=1,
    uuid="GPU-1",
    throttle_reasons=("software power cap", "hardware thermal slowdown"),
    temperature_c=91,
    processes=(GpuProcess(pid=4121, memory_bytes=None),),
)
LOST = Gpu(index=1, name="?", uuid="", memory_used_bytes=0, memory_total_bytes=0, fault="GPU is lost")
NEW, OLD = Driver(version="570.86.10", cuda=(12, 8)), Driver(version="470.82.01", cuda=(11, 4))


def without_ecc(gpu: Gpu) -> Gpu:
    return replace(gpu, ecc_volatile=None, ecc_aggregate=None)


@pytest.mark.parametrize(
    ("fault", "devices", "driver"),
    [
        ("", (FIRST, SECOND), NEW),
        ("no ecc", (without_ecc(FIRST), without_ecc(SECOND)), NEW),
        ("forbidden", (replace(FIRST, processes=()), replace(SECOND, processes=())), NEW),
        ("old driver", (FIRST, SECOND), OLD),
        ("lost", (FIRST, LOST), NEW),
    ],
    ids=["healthy", "without ECC", "processes hidden", "a driver older than the bindings", "one GPU lost"],
)
def test_gpus_are_told_as_nvml_tells_them(fault: str, devices: tuple[Gpu, ...], driver: Driver) -> None:
    answer = ask(ASK, fault)
    assert answer.stderr == ""
    assert answer.stdout.strip() == repr((devices, driver))


def test_a_machine_without_driver_says_so() -> None:
    answer = ask(ASK, "no driver")
    assert answer.stderr.splitlines()[-1] == (
        "diagnostics.machine.facts.MachineError: no NVIDIA driver answers: Driver Not Loaded"
    )


def ask(code: str, fault: str) -> ChildResult:
    path = f"{PROJECT}/tests/zoo/nvml:{PROJECT}"
    return GroupChild().run([sys.executable, "-c", code], deadline_s=60, env={"PYTHONPATH": path, "NVML_FAULT": fault})
