"""Looks at processes from outside: what they wait in, kept bounded, and read back as bytes of strangers."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diagnostics.machine.processes.proc_state import doing
from diagnostics.machine.processes.system_calls import describe_call, names_of_calls
from diagnostics.record.process_samples import FILE_NAME, Sample, samples_of
from diagnostics.supervisor.capture.sampling import BRIEF, FIRST, LAST, MAX_BYTES, StallSamples


@contextmanager
def _waiting(code: str, **streams: int) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", code], **streams)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("code", "call", "opened"),
    [
        ("import sys; sys.stdin.read()", "read 0", "pipe:["),
        ("import fcntl; fcntl.flock(open('held', 'a'), fcntl.LOCK_EX)", "flock 3", "/held"),
        ("import time; time.sleep(99)", "clock_nanosleep", ""),
        ("import subprocess; subprocess.run(['sleep', '99'])", "wait4 ", ""),
        ("import threading; a = threading.Lock(); a.acquire(); a.acquire()", "futex", ""),
    ],
)
def test_the_system_call_that_a_process_waits_in_has_a_name_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, call: str, opened: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("held").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with _waiting(code, stdin=subprocess.PIPE) as pid:

            def described() -> tuple[str, str]:
                seen = doing(pid)
                return describe_call(pid, seen.system_call) if seen is not None else ("", "")

            _until(lambda: described()[0].startswith(call) and opened in described()[1])


def test_both_machines_know_the_calls_and_others_none() -> None:
    assert names_of_calls("x86_64")[202] == names_of_calls("aarch64")[98] == "futex"
    assert names_of_calls("riscv64") == {}
    assert describe_call(os.getpid(), "running") == ("", "")
    assert describe_call(os.getpid(), "0 0xffffffffffffff9c 0x0") == ("read -100", "")


def test_first_and_last_samples_are_kept_with_stack_and_totals(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    samples = StallSamples(tmp_path)
    clock = iter(range(1000))
    # It works first for more than one tick of the kernel's clock, so that there is something to count.
    work = "import time\nwhile time.process_time() < 0.1: pass\n"
    with _waiting(work + "def nap():\n    time.sleep(99)\nnap()") as pid:
        _until(lambda: (seen := doing(pid)) is not None and "nanosleep" in seen.waits_in)
        samples.take({pid: 0}, lambda: next(clock))
        for _ in range(FIRST + LAST + 9):
            samples.take({pid: 0, 1 << 22: 5}, lambda: next(clock), stacks=False)
    ((key, found),) = samples_of((tmp_path / "captures" / FILE_NAME).read_text()).items()
    assert (key[0], len(found)) == (pid, 1 + BRIEF)
    assert [one.at_s for one in found] == sorted(one.at_s for one in found)
    assert (found[0].state, found[0].syscall, [frame.function for frame in found[0].stack]) == (
        "S", "clock_nanosleep", ["nap", "<module>"],
    )  # fmt: skip
    assert found[0].cpu_s > 0
    assert (tmp_path / "captures" / FILE_NAME).stat().st_size < MAX_BYTES


def test_looks_are_close_at_first_and_far_apart_later(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    samples, at_s, taken = StallSamples(tmp_path), 0.0, []
    with _waiting("import time; time.sleep(99)") as pid:
        os.kill(pid, signal.SIGSTOP)
        while at_s < 120:
            if samples.due(at_s, 0.0):
                samples.take({pid: 0}, lambda now=at_s: now)
                taken.append(at_s)
            at_s += 1.0
    assert taken[:5] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert len(taken) < 22
    assert taken[-1] - taken[-2] == 15.0


GOOD = (
    '{"pid":1,"start_ticks":2,"at_s":3.5,"state":"S","waits_in":"","syscall":"read 0","cpu_s":0,"bytes_moved":1,'
    '"major_faults":0,"swapped_bytes":null,"open_file":"","stack":[{"file":"a.py","line":1,"function":"f"},7]}'
)


def test_a_file_from_elsewhere_is_read_as_far_as_it_makes_sense() -> None:
    bad = ["[" * 9999, "{}", "null", GOOD.replace("3.5", "NaN"), GOOD.replace('"pid":1', '"pid":-1')]
    bad += [GOOD.replace('"S"', "7"), GOOD.replace('"pid":1', '"pid":true'), GOOD.replace('"cpu_s":0', '"cpu_s":1e999')]
    found = samples_of("\n".join([*bad, GOOD]))
    assert list(found) == [(1, 2)]
    (sample,) = found[1, 2]
    assert (sample.at_s, sample.syscall, len(sample.stack)) == (3.5, "read 0", 1)
    assert isinstance(sample, Sample)
