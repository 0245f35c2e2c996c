"""The instant probes of stage host: silent on a healthy machine, one finding on a failing twin."""

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
    FakeDisks,
    FakeGpus,
    FakeLimits,
    FakeMemory,
    FakeRanks,
    broken_machine,
    fake_machine,
    preflight_config,
)

from diagnostics.checks import JobDescription, Skip
from diagnostics.machine.facts import Driver, Gpu, GpuProcess, Limit, Space
from diagnostics.probes import (
    core_dumps,
    cores_and_threads,
    cuda_driver_fit,
    disk_space,
    gpu_count,
    memory,
    open_files,
    python_and_torch,
    shared_memory,
)

JOB = JobDescription(
    module="m", config=Path("c.yaml"), workers=4, prefetch=2, batch_bytes=64 << 20, output_dir=Path("/out")
)
GPU = Gpu(index=0, name="H200", uuid="GPU-1", memory_used_bytes=0, memory_total_bytes=140 * GIB)
BUSY = replace(GPU, processes=(GpuProcess(pid=77),))
CUDA_TORCH = FakeRanks(facts=replace(TORCH, torch="2.13.0+cu130", cuda="13.0"))
OLD_DRIVER = FakeGpus([GPU], Driver(version="470.82.01", cuda=(11, 4)))

CASES: list[tuple[ModuleType, Mapping[str, Any], str]] = [
    (
        open_files,
        {"limits": FakeLimits(files=Limit(256, 256))},
        "a process may open 256 files; one rank with 4 workers needs about 516",
    ),
    (
        shared_memory,
        {"memory": FakeMemory(shared=Space(64 << 20, 64 << 20))},
        "/dev/shm has 64 MiB free; 2 ranks x 4 workers x 2 batches of 64 MiB need about 1.5 GiB",  # noqa: S108 - a message
    ),
    (disk_space, {"disks": FakeDisks(may_write=False)}, "the output folder /out cannot be written"),
    (
        disk_space,
        {"disks": FakeDisks(free=1 << 20)},
        "the output folder /out (ext4) has 1 MiB free; about 1 GiB are needed",
    ),
    (
        disk_space,
        {"disks": FakeDisks(inodes=3)},
        "the output folder /out has room for 3 more files, whatever its free bytes",
    ),
    (
        memory,
        {"memory": FakeMemory(available=GIB)},
        "1 GiB RAM left; 2 ranks need 2 GiB to start",
    ),
    (
        cores_and_threads,
        {"limits": FakeLimits(cpus=2)},
        "2 ranks x (1 threads + 4 workers) share 2 cores",
    ),
    (
        cores_and_threads,
        {"environ": {"OMP_NUM_THREADS": "all"}},
        "OMP_NUM_THREADS is 'all'; OpenMP ignores it and takes every core in each rank",
    ),
    (core_dumps, {"limits": FakeLimits(core=Limit(0, -1))}, "a native crash leaves no core file: the limit is 0"),
    (python_and_torch, {"ranks": FailingRanks()}, "torch does not import under /opt/job/bin/python"),
    (
        cuda_driver_fit,
        {"gpus": FakeGpus([GPU])},
        "torch 2.13.0+cpu is a CPU build; the 1 GPUs here stay unused",
    ),
    (
        cuda_driver_fit,
        {"gpus": OLD_DRIVER, "ranks": CUDA_TORCH},
        "driver 470.82.01 serves CUDA 11.4; torch 2.13.0+cu130 was built for CUDA 13.0",
    ),
    (
        cuda_driver_fit,
        {"gpus": FailingGpus(), "ranks": CUDA_TORCH},
        "torch 2.13.0+cu130 is built for CUDA, and no NVIDIA driver answers: ranks run on the CPU",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([GPU, BUSY])},
        "GPU 0 is used by pid 77 (outside this container): 0 B of 140 GiB taken",
    ),
    (
        gpu_count,
        {"gpus": FakeGpus([GPU]), "environ": {"CUDA_VISIBLE_DEVICES": "7"}},
        "CUDA_VISIBLE_DEVICES=7: '7' is no GPU of this machine; CUDA hides it and all after it",
    ),
]
HEALTHY = {
    cuda_driver_fit: {"gpus": FakeGpus([GPU], Driver(version="580.65.06", cuda=(13, 0))), "ranks": CUDA_TORCH},
    gpu_count: {"gpus": FakeGpus([GPU, replace(GPU, index=1)])},
}


@pytest.mark.parametrize(("module", "providers", "title"), CASES, ids=[f"{case[0].NAME}: {case[2]}" for case in CASES])
def test_a_sick_machine_is_named(module: ModuleType, providers: Mapping[str, Any], title: str) -> None:
    findings = module.probe(fake_machine(**providers), preflight_config(Path(), job=JOB)).findings
    assert title in [finding.title for finding in findings]
    assert all(finding.fix and finding.fix.commands and finding.code == module.CODE for finding in findings)


@pytest.mark.parametrize("module", dict.fromkeys(case[0] for case in CASES), ids=lambda module: module.NAME)
def test_a_healthy_machine_is_met_with_silence(module: ModuleType) -> None:
    result = module.probe(fake_machine(**HEALTHY.get(module, {})), preflight_config(Path(), job=JOB))
    assert result.findings == ()
    assert result.title


@pytest.mark.parametrize("module", [shared_memory, disk_space, memory, cores_and_threads, core_dumps, gpu_count])
def test_a_machine_that_does_not_tell_skips_the_probe(module: ModuleType) -> None:
    with pytest.raises(Skip):
        module.probe(broken_machine(), preflight_config(Path(), job=JOB))
