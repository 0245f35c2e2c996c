"""The probes of files, memory, disks and cores: silent on a healthy machine, whole findings on a failing twin."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import GIB, FakeDisks, FakeLimits, FakeMemory, broken_machine, fake_machine, preflight_config
from whole_finding import told

from diagnostics.adapter.description import JobDescription
from diagnostics.machine.facts import CgroupMemory, Limit, Space
from diagnostics.preflight.host import core_dumps, cores_and_threads, disk_space, memory, open_files, shared_memory
from diagnostics.preflight.probe import Skip

JOB = JobDescription(
    module="m", config=Path("c.yaml"), workers=4, prefetch=2, batch_bytes=64 << 20, output_dir=Path("/out")
)

CASES: list[tuple[ModuleType, Mapping[str, Any], str]] = [
    (
        open_files,
        {"limits": FakeLimits(files=Limit(256, 256))},
        """ERROR P101 too-few-open-files at RLIMIT_NOFILE
a process may open 256 files; one rank with 4 workers needs about 516
saw 256 by ulimit -n, not 516 or more
fix: raise the limit in the shell that starts the job
$ docker run --ulimit nofile=65536 ...""",
    ),
    (
        open_files,
        {"limits": FakeLimits(files=Limit(256, 4096))},
        """ERROR P101 too-few-open-files at RLIMIT_NOFILE
a process may open 256 files; one rank with 4 workers needs about 516
saw 256 by ulimit -n, not 516 or more
fix: raise the limit in the shell that starts the job
$ ulimit -n 4096""",
    ),
    (
        shared_memory,
        {"memory": FakeMemory(shared=Space(64 << 20, 64 << 20))},
        """ERROR P102 shared-memory-too-small at /dev/shm
/dev/shm has 64 MiB free; 2 ranks x 4 workers x 2 batches of 64 MiB need about 1.5 GiB
saw 64 MiB of 64 MiB free by os.statvfs("/dev/shm"), not 1.5 GiB or more
fix: give the container or the mount more, or use fewer workers
$ docker run --shm-size=2g ...
$ sudo mount -o remount,size=2g /dev/shm""",
    ),
    (
        disk_space,
        {"disks": FakeDisks(may_write=False)},
        """ERROR P103 not-writable at TEMPORARY
the temporary folder TEMPORARY cannot be written
saw refused by a file made in TEMPORARY, not made and removed
fix: make room there, or name another folder
$ ls -ld TEMPORARY

ERROR P103 not-writable at /out
the output folder /out cannot be written
saw refused by a file made in /out, not made and removed
fix: make room there, or name another folder
$ ls -ld /out""",
    ),
    (
        disk_space,
        {"disks": FakeDisks(free=1 << 20)},
        """ERROR P103 disk-nearly-full at TEMPORARY
the temporary folder TEMPORARY (ext4) has 1 MiB free; about 1 GiB are needed
saw 1 MiB by df -h TEMPORARY, not 1 GiB or more
fix: make room there, or name another folder
$ df -h TEMPORARY

ERROR P103 disk-nearly-full at /out
the output folder /out (ext4) has 1 MiB free; about 1 GiB are needed
saw 1 MiB by df -h /out, not 1 GiB or more
fix: make room there, or name another folder
$ df -h /out""",
    ),
    (
        disk_space,
        {"disks": FakeDisks(inodes=3)},
        """ERROR P103 too-few-inodes at TEMPORARY
the temporary folder TEMPORARY has room for 3 more files, whatever its free bytes
saw 3 inodes free by df -i TEMPORARY, not 1000 or more
fix: make room there, or name another folder
$ df -i TEMPORARY

ERROR P103 too-few-inodes at /out
the output folder /out has room for 3 more files, whatever its free bytes
saw 3 inodes free by df -i /out, not 1000 or more
fix: make room there, or name another folder
$ df -i /out""",
    ),
    (
        memory,
        {"memory": FakeMemory(available=GIB)},
        """ERROR P104 memory-too-small at RAM
1 GiB RAM left; 2 ranks need 2 GiB to start
saw 1 GiB of 64 GiB by /proc/meminfo and the control group's limit, not 2 GiB or more
fix: raise the container's limit or end what uses the memory
$ ps aux --sort=-rss | head
$ docker run --memory=16g ...""",
    ),
    (
        memory,
        {
            "memory": FakeMemory(
                available=GIB, limit=CgroupMemory(limit_bytes=2 * GIB, used_bytes=GIB, path="/sys/fs/cgroup")
            )
        },
        """ERROR P104 memory-too-small at /sys/fs/cgroup
1 GiB RAM left, limited by /sys/fs/cgroup; 2 ranks need 2 GiB to start
saw 1 GiB of 64 GiB by /proc/meminfo and the control group's limit, not 2 GiB or more
fix: raise the container's limit or end what uses the memory
$ ps aux --sort=-rss | head
$ docker run --memory=16g ...""",
    ),
    (
        cores_and_threads,
        {"limits": FakeLimits(cpus=2)},
        """WARNING P105 cpu-oversubscribed at CPU
2 ranks x (1 threads + 4 workers) share 2 cores
saw 2 cores by nproc, and the control group's cpu quota, not about 6
fix: fewer threads a rank, or fewer workers
$ export OMP_NUM_THREADS=1""",
    ),
    (
        cores_and_threads,
        {"environ": {"OMP_NUM_THREADS": "all"}},
        """ERROR P105 omp-num-threads-not-a-number at OMP_NUM_THREADS
OMP_NUM_THREADS is 'all'; OpenMP ignores it and takes every core in each rank
saw all by echo $OMP_NUM_THREADS, not a whole number
fix: set it to cores / ranks
$ export OMP_NUM_THREADS=1""",
    ),
    (
        core_dumps,
        {"limits": FakeLimits(core=Limit(0, -1))},
        """INFO P106 core-dumps-off at RLIMIT_CORE
a native crash leaves no core file: the limit is 0
saw 0 by ulimit -c
fix: only where C++ frames of a crash are wanted
$ ulimit -c unlimited""",
    ),
]
MODULES = list(dict.fromkeys(module for module, _, _ in CASES))


@pytest.mark.parametrize(("module", "providers", "expected"), CASES, ids=[case[2].splitlines()[1] for case in CASES])
def test_a_sick_machine_is_named(module: ModuleType, providers: Mapping[str, Any], expected: str) -> None:
    findings = module.probe(fake_machine(**providers), preflight_config(Path(), job=JOB)).findings
    assert told(findings).replace(tempfile.gettempdir(), "TEMPORARY") == expected


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)
def test_a_healthy_machine_is_met_with_silence(module: ModuleType) -> None:
    result = module.probe(fake_machine(), preflight_config(Path(), job=JOB))
    assert result.findings == ()
    assert result.title


@pytest.mark.parametrize("module", [shared_memory, disk_space, memory, cores_and_threads, core_dumps])
def test_a_machine_that_does_not_tell_skips_the_probe(module: ModuleType) -> None:
    with pytest.raises(Skip):
        module.probe(broken_machine(), preflight_config(Path(), job=JOB))


def test_without_a_config_a_containers_64_mib_of_shared_memory_are_a_warning() -> None:
    small = fake_machine(memory=FakeMemory(shared=Space(64 << 20, 64 << 20)))
    assert told(shared_memory.probe(small, preflight_config(Path())).findings) == (
        """WARNING P102 shared-memory-too-small at /dev/shm
/dev/shm has 64 MiB free; loader workers need about 256 MiB
saw 64 MiB of 64 MiB free by os.statvfs("/dev/shm"), not 256 MiB or more
fix: give the container or the mount more, or use fewer workers
$ docker run --shm-size=1g ...
$ sudo mount -o remount,size=1g /dev/shm"""
    )
