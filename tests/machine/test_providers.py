"""The real providers answer sensibly on the machine that runs the tests."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from diagnostics.machine.facts import MachineError
from diagnostics.machine.host.cgroups import ancestors
from diagnostics.machine.host.disks import MountedDisks
from diagnostics.machine.host.gpus import NvmlGpus
from diagnostics.machine.host.limits import KernelLimits
from diagnostics.machine.host.memory import SystemMemory
from diagnostics.machine.host.network import TcpNetwork
from diagnostics.machine.processes.processes import SystemProcesses


def test_the_groups_of_both_versions_are_found_innermost_first(tmp_path: Path) -> None:
    membership = tmp_path / "cgroup"
    membership.write_text("4:memory:/job/a\n1:cpu,cpuacct:/job\n0::/slice\n")
    root = tmp_path / "fs"
    (root / "memory" / "job" / "a").mkdir(parents=True)
    (root / "slice").mkdir()
    found = [ancestors(name, root=root, membership=membership) for name in ("memory", "", "cpu")]
    memory = root / "memory"
    assert found == [[memory / "job" / "a", memory / "job", memory], [root / "slice", root], []]


def test_a_listening_port_is_not_free_and_its_holder_is_this_process() -> None:
    network = TcpNetwork(SystemProcesses())
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        holder = network.port_holder(port)
        assert not network.is_free(port)
    assert holder is not None
    assert holder.address == "127.0.0.1"
    assert holder.process is not None
    assert holder.process.pid == os.getpid()
    assert network.is_free(port)


def test_this_process_and_its_parent_are_family() -> None:
    assert {os.getpid(), os.getppid()} <= SystemProcesses().own_family()


def test_a_folder_to_be_made_stands_for_its_parent(tmp_path: Path) -> None:
    disks = MountedDisks()
    assert disks.writable(tmp_path / "a" / "b")
    assert disks.free_bytes(tmp_path / "a" / "b") > 0
    assert disks.file_system(Path("/proc/self")) == "proc"
    assert [*tmp_path.iterdir()] == []


def test_memory_and_cores_lie_within_the_machine() -> None:
    memory = SystemMemory()
    assert 0 < memory.available_bytes() <= memory.total_bytes()
    assert 0 < KernelLimits().cpu_count() <= (os.cpu_count() or 0)


@pytest.mark.gpu
def test_a_real_gpu_tells_its_memory_and_driver() -> None:
    try:
        gpus, driver = NvmlGpus().devices(), NvmlGpus().driver()
    except MachineError as error:
        pytest.skip(str(error))
    assert all(0 <= gpu.memory_used_bytes <= gpu.memory_total_bytes for gpu in gpus)
    assert driver.cuda >= (11, 0)
