"""No descriptor for a process (kernels before 5.3, gVisor, seccomp, too few files): a job is ended all the same."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from jobs import DOCTOR, facts, is_alive, until

WITHOUT = """
import errno, os
def pidfd_open(pid, flags=0):
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
os.pidfd_open = pidfd_open
from diagnostics.cli import main
main()
"""


def doctor(tmp_path: Path, *job: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WITHOUT, "run", "--report-dir", str(tmp_path / "report"), "--", *job],
        cwd=tmp_path, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_job_that_ignores_sigterm_is_killed_at_the_second_one(tmp_path: Path) -> None:
    process = doctor(tmp_path, "bash", "-c", 'trap "" TERM; touch ready; for i in $(seq 400); do sleep 0.1; done')
    until((tmp_path / "ready").exists)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    until((tmp_path / "report" / "record" / "job.json").exists)  # the job may be quicker than its first writing
    until(lambda: facts(tmp_path)["ended_by"] == "interrupt")
    time.sleep(0.4)  # two signals within 0.3 s are one
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert time.monotonic() - began < 20


def test_what_a_job_leaves_is_ended(tmp_path: Path) -> None:
    process = doctor(tmp_path, "bash", "-c", "sleep 300 & echo $! > pid")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    pid = int((tmp_path / "pid").read_text())
    assert f"ending pid {pid} (sleep 300), which CMD left" in said.decode()
    assert not is_alive(pid)
    assert [one["pid"] for one in facts(tmp_path)["sent"]] == [pid]


MANY = 60


def test_a_job_of_more_processes_than_files_may_be_open_is_seen_to_its_end(tmp_path: Path) -> None:
    script = f"for i in $(seq {MANY}); do sleep 300 > /dev/null 2>&1 & done; until [ -e go ]; do sleep 0.05; done"
    process = subprocess.Popen(
        [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", "bash", "-c", script],
        cwd=tmp_path, stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    )  # fmt: skip
    until((tmp_path / "report" / "record" / "job.json").exists)
    until((tmp_path / "report" / "record" / "job.json").exists)
    until(lambda: len(facts(tmp_path)["processes"]) > MANY)
    (tmp_path / "go").touch()
    process.communicate(timeout=60)
    told = facts(tmp_path)
    assert [one["pid"] for one in told["processes"] if is_alive(one["pid"])] == []
    assert process.returncode == 0
    # Debuggers need many files at once; what is read from /proc needs one.
    assert [one for one in told["missing"] if not one["what"].startswith("stacks-from-outside")] == []
