"""The probes of torch, the NVIDIA driver and the GPUs, on machines that are not there: whole findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import (
    GIB,
    TORCH,
    FailingGpus,
    FailingRanks,
    FakeGpus,
    FakeProcesses,
    FakeRanks,
    broken_machine,
    fake_machine,
    preflight_config,
)
from whole_finding import told

from diagnostics.machine.facts import Driver, Gpu, GpuProcess, ProcessInfo
from diagnostics.preflight.device import gpu_health
from diagnostics.preflight.host import cuda_driver_fit, gpu_count, python_and_torch
from diagnostics.preflight.probe import Skip

GPU = Gpu(index=0, name="H200", uuid="GPU-1", memory_used_bytes=0, memory_total_bytes=140 * GIB)
TWO = (GPU, replace(GPU, index=1, uuid="GPU-2"))
LOST = Gpu(index=1, name="?", uuid="", memory_used_bytes=0, memory_total_bytes=0, fault="GPU is lost")
BUSY = replace(GPU, memory_used_bytes=70 * GIB, processes=(GpuProcess(pid=77),))
ADAS = ProcessInfo(pid=77, ppid=1, user="ada", argv=("python", "train.py"))


def torch_of(cuda: str) -> FakeRanks:
    return FakeRanks(facts=replace(TORCH, torch=f"2.13.0+cu{cuda.replace('.', '')}", cuda=cuda))


CASES: list[tuple[ModuleType, Mapping[str, Any], str, str]] = [
    (
        python_and_torch,
        {"ranks": FailingRanks()},
        "auto",
        """ERROR P110 torch-does-not-import at /opt/job/bin/python
torch does not import under /opt/job/bin/python
saw import torch: ModuleNotFoundError: No module named 'torch' by /opt/job/bin/python -c 'import torch', not no output
fix: name the job's own interpreter, or install torch into this one
$ ups-doctor preflight --python /path/to/environment/bin/python
$ /opt/job/bin/python -m pip install torch""",
    ),
    (
        cuda_driver_fit,
        {"gpus": FakeGpus(TWO)},
        "auto",
        """ERROR P111 cpu-torch-on-gpu-machine at /opt/job/bin/python
torch 2.13.0+cpu is a CPU build; the 2 GPUs here stay unused
saw None by torch.version.cuda, not 12.8 or less
fix: install a CUDA build of torch for CUDA 12.8 (cu128) or older
$ /opt/job/bin/python -m pip uninstall torch
$ /opt/job/bin/python -m pip install torch""",
    ),
    (
        cuda_driver_fit,
        {"gpus": FakeGpus([GPU], Driver(version="470.82.01", cuda=(11, 4))), "ranks": torch_of("13.0")},
        "auto",
        """ERROR P111 driver-too-old at NVIDIA driver
driver 470.82.01 serves CUDA 11.4; torch 2.13.0+cu130 was built for CUDA 13.0
saw CUDA 11.4 by nvidia-smi, not CUDA 13.0 or newer
fix: update the driver, or install a torch built for an older CUDA
$ nvidia-smi""",
    ),
    (
        cuda_driver_fit,
        {"gpus": FailingGpus(), "ranks": torch_of("13.0")},
        "auto",
        """INFO P111 no-nvidia-driver at NVIDIA driver
torch 2.13.0+cu130 is built for CUDA, and no NVIDIA driver answers: ranks run on the CPU
saw the NVIDIA driver is not loaded (NVML: Driver Not Loaded) by nvidia-smi, not a driver
fix: in a container, start it with its GPUs
$ docker run --gpus all ...
$ nvidia-smi""",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([BUSY, TWO[1]])},
        "auto",
        """WARNING P112 gpu-in-use at GPU 0
GPU 0 is used by pid 77 (outside this container): 70 GiB of 140 GiB taken
saw 70 GiB of 140 GiB by nvidia-smi, not no other process
fix: wait for it, end it if it is yours, or take other GPUs
$ nvidia-smi""",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([BUSY, TWO[1]]), "processes": FakeProcesses([ADAS])},
        "auto",
        """WARNING P112 gpu-in-use at GPU 0
GPU 0 is used by pid 77 (python train.py) of ada: 70 GiB of 140 GiB taken
saw 70 GiB of 140 GiB by nvidia-smi, not no other process
fix: wait for it, end it if it is yours, or take other GPUs
$ nvidia-smi""",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus(TWO), "environ": {"CUDA_VISIBLE_DEVICES": "7"}},
        "nccl",
        """ERROR P112 cuda-visible-devices-names-no-gpu at CUDA_VISIBLE_DEVICES
CUDA_VISIBLE_DEVICES=7: '7' is no GPU of this machine; CUDA hides it and all after it
saw 7 by echo $CUDA_VISIBLE_DEVICES, not numbers 0 to 1
fix: name GPUs that exist
$ nvidia-smi -L
$ unset CUDA_VISIBLE_DEVICES

ERROR P112 fewer-gpus-than-ranks at GPUs
2 ranks were asked for; 0 GPUs are visible (CUDA_VISIBLE_DEVICES=7 hides 2)
saw 0 GPUs by nvidia-smi -L, not 2
fix: start one rank a GPU, or use gloo
$ ups-doctor preflight --backend gloo""",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([GPU])},
        "nccl",
        """ERROR P112 fewer-gpus-than-ranks at GPUs
2 ranks were asked for; 1 GPUs are visible
saw 1 GPUs by nvidia-smi -L, not 2
fix: start one rank a GPU, or use gloo
$ ups-doctor preflight --nproc 1""",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([GPU, LOST])},
        "nccl",
        """ERROR P112 fewer-gpus-than-ranks at GPUs
2 ranks were asked for; 1 GPUs are visible
saw 1 GPUs by nvidia-smi -L, not 2
fix: start one rank a GPU, or use gloo
$ ups-doctor preflight --nproc 1""",
    ),
    (
        gpu_health,
        {"gpus": FakeGpus([GPU, LOST])},
        "nccl",
        """ERROR P504 gpu-does-not-answer at GPU 1
GPU 1 (?): GPU is lost
saw GPU is lost by nvidia-smi -q -i 1, not an answer
fix: restart the machine; a GPU that is lost again, or overheats, needs its hardware looked at (dmesg: Xid)
$ nvidia-smi -q -d ECC,PERFORMANCE,TEMPERATURE -i 1""",
    ),
]
HEALTHY: dict[ModuleType, Mapping[str, Any]] = {
    python_and_torch: {},
    cuda_driver_fit: {"gpus": FakeGpus([GPU], Driver(version="580.65.06", cuda=(13, 0))), "ranks": torch_of("13.0")},
    gpu_count: {"gpus": FakeGpus(TWO)},
    gpu_health: {"gpus": FakeGpus(TWO)},
}


@pytest.mark.parametrize(
    ("module", "providers", "backend", "expected"),
    CASES,
    ids=[f"{case[0].NAME}: {case[3].splitlines()[1]}" for case in CASES],
)
def test_a_sick_machine_is_named(module: ModuleType, providers: Mapping[str, Any], backend: str, expected: str) -> None:
    assert told(module.probe(fake_machine(**providers), preflight_config(Path(), backend=backend)).findings) == expected


@pytest.mark.parametrize("module", HEALTHY, ids=lambda module: module.NAME)
def test_a_healthy_machine_is_met_with_silence(module: ModuleType) -> None:
    result = module.probe(fake_machine(**HEALTHY[module]), preflight_config(Path(), backend="auto"))
    assert result.findings == ()
    assert result.title


def test_hidden_gpus_skip_the_count() -> None:
    with pytest.raises(Skip, match=r"^no GPU: the NVIDIA driver is not loaded"):
        gpu_count.probe(broken_machine(), preflight_config(Path()))


@pytest.mark.parametrize(
    ("driver", "serves", "cuda", "fits"),
    [
        ("450.80.01", (11, 0), "11.8", False),
        ("450.80.02", (11, 0), "11.8", True),
        ("525.60.11", (12, 0), "12.8", False),
        ("525.60.13", (12, 0), "12.8", True),
        ("570.86.10", (12, 8), "13.0", False),
        ("580.65.06", (13, 0), "13.1", True),
        ("580.65.06", (13, 0), "12.6", True),
        ("580.65.06", (13, 0), "14.0", False),
    ],
)
def test_a_driver_serves_its_own_major_cuda_from_its_oldest_driver_on(
    driver: str, serves: tuple[int, int], cuda: str, fits: bool
) -> None:
    machine = fake_machine(gpus=FakeGpus([GPU], Driver(version=driver, cuda=serves)), ranks=torch_of(cuda))
    names = [finding.name for finding in cuda_driver_fit.probe(machine, preflight_config(Path())).findings]
    assert names == ([] if fits else ["driver-too-old"])
