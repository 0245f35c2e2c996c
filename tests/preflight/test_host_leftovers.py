"""Left-over ranks: real orphans are named, running jobs are left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FailingProcesses, FakeGpus, FakeProcesses, fake_machine, preflight_config
from whole_finding import told

from diagnostics.core.findings import Severity
from diagnostics.machine.facts import Gpu, GpuProcess, ProcessInfo
from diagnostics.machine.processes.processes import SystemProcesses
from diagnostics.preflight.host import leftover_processes
from diagnostics.preflight.probe import Skip

RANK = {"RANK": "1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none"}
INIT = ProcessInfo(pid=1, ppid=0, user="root", argv=("/sbin/init",))
SHELL = ProcessInfo(pid=50, ppid=1, user="ada", argv=("bash",))
LAUNCHER = ProcessInfo(pid=60, ppid=50, user="ada", argv=("python", "torchrun", "train.py"))


def rank(pid: int, ppid: int, **variables: str) -> ProcessInfo:
    return ProcessInfo(pid=pid, ppid=ppid, user="ada", argv=("python", "train.py"), variables={**RANK, **variables})


def left_over(*alive: ProcessInfo) -> list[str]:
    machine = fake_machine(processes=FakeProcesses([INIT, SHELL, *alive]))
    result = leftover_processes.probe(machine, preflight_config(Path()))
    return [finding.where for finding in result.findings]


def test_a_rank_whose_launcher_died_is_named_with_its_workers() -> None:
    assert left_over(rank(71, 1), rank(72, 71)) == ["pid 71", "pid 72"]


def test_a_left_over_rank_on_the_port_or_the_gpu_of_the_job_is_an_error() -> None:
    orphan = rank(71, 1)
    alive = FakeProcesses([INIT, replace(orphan, started=time.time() - 7260)])
    here = preflight_config(Path(), port=29500)
    assert told(leftover_processes.probe(fake_machine(processes=alive), preflight_config(Path())).findings) == (
        """WARNING (likely) P107 left-over-rank at pid 71
rank 1 of an earlier run is alive: pid 71 (python train.py), 2 h old
saw parent 1, MASTER_PORT 29500 by ps -o pid,ppid,etime,args -p 71, not a launcher as parent
fix: end it if you know it
! kill 71"""
    )
    gpu = Gpu(
        index=0, name="H200", uuid="G", memory_used_bytes=1, memory_total_bytes=2, processes=(GpuProcess(pid=71),)
    )
    [on_port] = leftover_processes.probe(fake_machine(processes=alive), here).findings
    holder = fake_machine(processes=alive, gpus=FakeGpus([gpu]))
    [on_gpu] = leftover_processes.probe(holder, preflight_config(Path())).findings
    assert (on_port.severity, on_gpu.severity) == (Severity.ERROR, Severity.ERROR)
    assert on_gpu.title == "rank 1 of an earlier run is alive: pid 71 (python train.py), 2 h old, holding a GPU"


def test_a_running_job_is_left_alone() -> None:
    assert left_over(LAUNCHER, rank(71, 60), rank(72, 71)) == []


def test_a_container_that_gives_rank_to_everything_is_no_left_over() -> None:
    first = ProcessInfo(pid=1, ppid=0, user="ada", argv=("sleep", "inf"), variables=RANK)
    machine = fake_machine(processes=FakeProcesses([first, rank(9, 1)]))
    assert leftover_processes.probe(machine, preflight_config(Path())).findings == ()


def test_a_rank_started_by_hand_with_nohup_is_left_alone() -> None:
    by_hand = ProcessInfo(
        pid=71, ppid=1, user="ada", argv=("python", "t.py"), variables={"RANK": "0", "MASTER_PORT": "1"}
    )
    assert left_over(by_hand) == []


def test_hidden_processes_skip_the_probe() -> None:
    with pytest.raises(Skip, match=r"^/proc cannot be read$"):
        leftover_processes.probe(fake_machine(processes=FailingProcesses()), preflight_config(Path()))


def test_a_real_orphan_is_found() -> None:
    launcher = (
        "import os, subprocess, sys; "
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], stdout=subprocess.DEVNULL); "
        "print(p.pid, flush=True); os._exit(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", launcher], env={**os.environ, **RANK}, stdout=subprocess.PIPE, check=False
    )
    pid = int(done.stdout)
    try:
        processes = SystemProcesses()
        deadline = time.monotonic() + 10
        while (orphan := processes.find(pid)) is not None and not orphan.variables and time.monotonic() < deadline:
            time.sleep(0.01)
        assert orphan is not None
        if orphan.ppid != 1:
            pytest.skip(f"orphans are adopted by pid {orphan.ppid} here, not by init")
        machine = fake_machine(processes=processes, user=orphan.user)
        found = leftover_processes.probe(machine, preflight_config(Path())).findings
        assert f"pid {pid}" in [finding.where for finding in found]
    finally:
        os.kill(pid, signal.SIGKILL)
