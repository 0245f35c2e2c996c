"""The kernel's log, its counters of kills, and core files, real and of other kernels."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from diagnostics.core.frame import Frame
from diagnostics.machine.facts import MachineError
from diagnostics.machine.host.kernel_log import KernelLog, concerns_a_job, parse_record, shown
from diagnostics.machine.host.oom_counters import counts_upwards, machine_oom_kills, memory_group, outermost, read_group
from diagnostics.machine.processes import core_dumps as machine_cores
from diagnostics.record.gdb_report import parse_core_text
from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.capture.core_dumps import capture_core_dumps


def test_a_kernel_log_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="No such file or directory"):
        KernelLog(tmp_path / "kmsg")
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(MachineError, match="symbolic links"):
        KernelLog(tmp_path / "link")


def test_a_record_of_the_kernel_log_is_one_line() -> None:
    line = parse_record(b"6,1234,98765432,-;python[77]: segfault at 0 ip 1 sp 2\\x0a in libx.so\n SUBSYSTEM=x\n")
    assert line is not None
    assert (line.seconds, line.text) == (98.765432, "python[77]: segfault at 0 ip 1 sp 2  in libx.so")
    assert parse_record(b"no record") is None


TELLING = [
    ("Memory cgroup out of memory: Killed process 77 (python) total-vm:1kB", True),
    ("oom-kill:constraint=CONSTRAINT_MEMCG,task=python,pid=77,uid=0", True),
    ("python[77]: segfault at 0 ip 000 sp 000 error 4 in libtorch_cpu.so[7f00+1000]", True),
    ("traps: python[77] trap invalid opcode ip:1 sp:2 error:0 in x.so[1+2]", True),
    ("NVRM: Xid (PCI:0000:3b:00): 79, pid=77, GPU has fallen off the bus.", True),
    ("INFO: task python:77 blocked for more than 120 seconds.", True),
    ("nfs: server data not responding, still trying", False),
    ("blk_update_request: I/O error, dev sda, sector 1", False),
]


@pytest.mark.parametrize(("text", "names_it"), TELLING)
def test_lines_about_a_job_are_kept_and_its_processes_marked(text: str, names_it: bool) -> None:
    assert concerns_a_job(text)
    assert shown(1.26, text, {77, 8}) == f"+1.3 s {text}" + (" [pid 77 is of this job]" if names_it else "")


@pytest.mark.parametrize(
    "text", ["eth0: link up", "device veth1 entered promiscuous mode", "systemd[1]: Started Session 1", "audit: pid=77"]
)
def test_other_lines_are_left_out(text: str) -> None:
    assert not concerns_a_job(text)


def test_groups_of_both_versions_are_read(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two" / "inner"
    first.mkdir()
    second.mkdir(parents=True)
    (first / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (first / "memory.usage_in_bytes").write_text("4096\n")
    (first / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    (first / "memory.failcnt").write_text("7\n")
    (second / "memory.max").write_text("1048576\n")
    (second / "memory.peak").write_text("1048000\n")
    (second / "memory.events").write_text("low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n")
    one, two = read_group(first), read_group(second)
    assert (one.limit_bytes, one.used_bytes, one.limit_hits, one.oom_kills) == (None, 4096, 7, 2)
    assert (two.limit_bytes, two.peak_bytes, two.limit_hits, two.oom_kills) == (1048576, 1048000, 5, 1)
    assert (counts_upwards(first), counts_upwards(second)) == (False, True)
    assert outermost([second, second.parent, first]) == [first, second.parent]
    assert read_group(tmp_path / "gone").oom_kills is None


def test_the_machine_counts_kills_and_a_process_that_is_gone_has_no_group() -> None:
    assert machine_oom_kills(Path("/nowhere")) is None
    assert (machine_oom_kills() or 0) >= 0
    assert memory_group(2**22 - 1) is None


CRASH = """
import ctypes, threading
def poke():
    ctypes.string_at(0)
thread = threading.Thread(target=poke)
thread.start()
thread.join()
"""


def crash(folder: Path) -> int:
    (folder / "crash.py").write_text(CRASH)
    process = subprocess.Popen(
        [sys.executable, "crash.py"],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
    )
    assert process.wait(30) == -signal.SIGSEGV
    return process.pid


def needs_cores() -> None:
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")) or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip(f"cores do not go to the working directory here: {pattern}")


def test_a_core_names_library_and_python_line_of_the_thread_that_crashed(tmp_path: Path) -> None:
    needs_cores()
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed: apt-get install gdb")
    (tmp_path / "captures").mkdir()
    pid = crash(tmp_path)
    assert capture_core_dumps({pid: tmp_path}, tmp_path, 0, deadline_s=60) == ()
    report = parse_core_text((tmp_path / "captures" / f"core-{pid}.txt").read_text())
    assert report is not None
    assert report.signal == "SIGSEGV"
    assert any("ffi" in frame.library for frame in report.native)
    if report.python:  # py-bt comes with the interpreter
        assert Frame(file=str(tmp_path / "crash.py"), line=4, function="poke") in report.python


def test_an_older_core_or_that_of_another_process_is_not_taken(tmp_path: Path) -> None:
    needs_cores()
    pid = crash(tmp_path)
    found = machine_cores.find_core(pid, tmp_path, newer_than_ns=0)
    assert found is not None
    assert machine_cores.find_core(pid, tmp_path, newer_than_ns=found.path.stat().st_mtime_ns) is None
    assert machine_cores.find_core(pid + 1, tmp_path, newer_than_ns=0) is None
    found.path.write_bytes(found.path.read_bytes()[:100])  # the disk was full
    assert machine_cores.find_core(pid, tmp_path, newer_than_ns=0) is None


def test_no_core_is_nothing_missing_and_a_missing_gdb_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_cores()
    assert capture_core_dumps({os.getpid(): tmp_path}, tmp_path, 0) == ()
    pid = crash(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    (only,) = capture_core_dumps({pid: tmp_path}, tmp_path, 0)
    assert only.what == "core"
    assert only.why.startswith("gdb is not installed; ")


def test_cores_that_are_piped_to_a_program_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = tmp_path / "core_pattern"
    pattern.write_text("|/usr/lib/systemd/systemd-coredump %P %u")
    monkeypatch.setattr(machine_cores, "PATTERN", pattern)
    assert capture_core_dumps({1: tmp_path, 2: tmp_path}, tmp_path, 0) == (
        Missing(
            what="core", why="the kernel gives core files to /usr/lib/systemd/systemd-coredump (kernel.core_pattern)"
        ),
    )


def test_gdbs_words_become_frames() -> None:
    text = textwrap.dedent(
        """\
        Program terminated with signal SIGABRT, Aborted.
        === native
        #0  __pthread_kill_implementation (no_tid=..., signo=...) at ./nptl/pthread_kill.c:44
        #1  0x00007fb3 in __GI_raise (sig=...) at ../sysdeps/posix/raise.c:26
        #2  0x00007fb35cd in gloo::transport::tcp::Pair::fail(int) () from /x/lib/libtorch_cpu.so
        #3  0x00007fb35cc in ?? () from /lib/libffi.so.8
        === python
        Traceback (most recent call first):
          File "/job/train.py", line 12, in sync
            dist.all_reduce(x)
        """
    )
    report = parse_core_text(text)
    assert report is not None
    assert report.signal == "SIGABRT"
    assert [frame.shown for frame in report.native] == [
        "pthread_kill.c: __pthread_kill_implementation",
        "raise.c: __GI_raise",
        "libtorch_cpu.so: gloo::transport::tcp::Pair::fail(int)",
        "libffi.so.8: ??",
    ]
    assert report.culprit == report.native[2]
    assert report.python == (Frame(file="/job/train.py", line=12, function="sync"),)
    assert parse_core_text("nothing") is None
