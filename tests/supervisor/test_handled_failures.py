"""Jobs that provoke, expect or handle failures keep their exit code; those that drop one do not.

The trainings are ranks without torch: quick ones. 51 such programs with real trainings, and 12 that lie, stand in
tests/zoo/handled.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from jobs import report, run

PYTHON = sys.executable
TRAIN = """\
import os, sys, time
os.environ.pop("RANK")
if "--fail" in sys.argv:
    raise RuntimeError("too big")
if "--die" in sys.argv:
    time.sleep(1)  # of a process that is killed in its first tenth of a second nobody may see the end but its shell
    os.kill(os.getpid(), 9)
if "--answer" in sys.argv:  # SIGTERM with a code of its own
    import signal
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    open("ready", "w").close()
if "--sleep" in sys.argv or "--answer" in sys.argv:
    time.sleep(60)
print("trained", flush=True)
"""
DRIVER = """\
import multiprocessing, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor, wait
env = {{**os.environ, "RANK": "0", "WORLD_SIZE": "1"}}
fail, die, small = ([sys.executable, "train.py", *one] for one in (["--fail"], ["--die"], []))

def start(command, **rest):
    return subprocess.run(command, env=env, **rest)

def leave():
    raise RuntimeError("too big")

if __name__ == "__main__":
{body}
    print("done", flush=True)
"""
BIG, DIES = f"RANK=0 {PYTHON} train.py --fail", f"RANK=0 {PYTHON} train.py --die"
SMALL, SLEEPS = f"RANK=0 {PYTHON} train.py", f"RANK=0 {PYTHON} train.py --sleep"
SHELL_HANDLES = {
    "a smaller training answers": f"{BIG} || {SMALL}",
    "a test of the failure": f"if ! {BIG}; then echo as it should; fi",
    "a code that is read": f'{BIG}; code=$?; [ "$code" -eq 1 ]',
    "a code that is read after a signal": f'{DIES}; code=$?; [ "$code" -eq 137 ]',
    "a negation": f"! {BIG}",
    "a time limit": f"timeout 1 env {SLEEPS}; [ $? -eq 124 ]",
    "a job that is waited for": f"{BIG} & wait $!; echo $?",
    "a chaos test": f"{SLEEPS} & pid=$!; kill -9 $pid; wait $pid; [ $? -eq 137 ]",
    "a stop in a trap": (
        f"rm -f ready\ntrap 'kill $t; wait $t; exit 0' EXIT\nRANK=0 {PYTHON} train.py --answer & t=$!\n"
        "until [ -f ready ]; do sleep 0.1; done"
    ),
    "a function that runs what it is given": (
        f'try() {{ "$@" || {SMALL}; }}\nexport RANK=0\ntry {PYTHON} train.py --fail\necho done'
    ),
    "a list of what failed": f"{BIG} || failed=1; echo ${{failed:-0}} failed",
}
RAISED = """    def run():
        if start(fail).returncode: raise RuntimeError('a training failed')
    with ThreadPoolExecutor() as pool:
"""
PYTHON_HANDLES = {
    "a code that is read": "    assert start(fail).returncode == 1",
    "a sweep with a table": (
        "    rows = []\n    for one in (fail, small):\n"
        "        rows.append('failed' if start(one).returncode else 'well')\n    print(rows)"
    ),
    "a check that is answered": (
        "    try: start(fail, check=True)\n    except subprocess.CalledProcessError: start(small)"
    ),
    "a process whose exitcode is read": (
        "    os.environ.update(env)\n    child = multiprocessing.get_context('spawn').Process(target=leave)\n"
        "    child.start(); child.join(); assert child.exitcode == 1"
    ),
    "a code that a thread's future gives": (
        "    job = ThreadPoolExecutor().submit(subprocess.call, fail, env=env)\n    if job.result(): print('known')"
    ),
    "an exception that a thread's future gives": (
        f"{RAISED}        job = pool.submit(run)\n    if job.exception(): print('known')"
    ),
    "a handler that cannot take it": (
        "    try:\n        try: start(fail, check=True)\n        except FileNotFoundError: print('no such program')\n"
        "    except subprocess.CalledProcessError: print('known'); start(small)"
    ),
    "a chaos test": "    assert start(die).returncode == -9",
}
SHELL_DROPS = {
    "|| true": f"{BIG} || true",
    "|| echo": f"{BIG} || echo failed",
    "&& echo || true": f"{BIG} && echo well || true",
    "a pipe": f"{BIG} | cat",
    "a bare wait": f"{BIG} & wait",
    "the next command": f"{BIG}\necho done",
    "the next command, after a signal": f"{DIES}\necho done",
    "exit 0": f"{BIG}\nexit 0",
}
PYTHON_DROPS = {
    "a result that nobody reads": "    start(fail)",
    "a thread's future that nobody asks": ("    with ThreadPoolExecutor() as pool: pool.submit(start, fail)"),
    "an exception in a thread's future that nobody asks": f"{RAISED}        wait([pool.submit(run)])",
    "a wait that nobody reads": "    subprocess.Popen(fail, env=env).wait()",
    "codes that are only printed": "    print([start(one).returncode for one in (fail, small)])",
    "a handler that prints": "    try: start(fail, check=True)\n    except Exception as error: print('failed')",
    "a code that only one trial's is": "    code = start(fail).returncode if False else start(die)",
}


def bare(tmp_path: Path, *job: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a job by itself."""
    return subprocess.run(job, cwd=tmp_path, capture_output=True, check=False, timeout=60)


def shell(tmp_path: Path, text: str) -> tuple[str, ...]:
    """Writes a script and what it trains; returns its command."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "run.sh").write_text(text + "\n")
    return ("bash", "run.sh")


def driver(tmp_path: Path, body: str) -> tuple[str, ...]:
    """Writes a driver and what it trains; returns its command."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "drive.py").write_text(DRIVER.format(body=body))
    return (PYTHON, "drive.py")


def unchanged(tmp_path: Path, *job: str) -> None:
    """Holds a watched run against one without the doctor."""
    alone, watched = bare(tmp_path, *job), run(tmp_path, *job)
    assert (watched.returncode, watched.stdout) == (alone.returncode, alone.stdout) == (0, alone.stdout)
    assert (report(tmp_path)["outcome"], report(tmp_path)["failure_class"]) == ("ok", "none")


@pytest.mark.parametrize("name", SHELL_HANDLES)
def test_a_script_that_handles_a_failure_is_left_alone(name: str, tmp_path: Path) -> None:
    unchanged(tmp_path, *shell(tmp_path, SHELL_HANDLES[name]))


@pytest.mark.parametrize("name", PYTHON_HANDLES)
def test_a_driver_that_handles_a_failure_is_left_alone(name: str, tmp_path: Path) -> None:
    unchanged(tmp_path, *driver(tmp_path, PYTHON_HANDLES[name]))


@pytest.mark.parametrize("name", SHELL_DROPS)
def test_a_script_that_drops_a_failure_is_told(name: str, tmp_path: Path) -> None:
    job = shell(tmp_path, SHELL_DROPS[name])
    assert (bare(tmp_path, *job).returncode, run(tmp_path, *job).returncode) in ((0, 70), (0, 137))
    assert report(tmp_path)["failure_class"] == "masked-exit"
    assert any(place.startswith("run.sh:") for place in report(tmp_path)["locations"])


@pytest.mark.parametrize("name", PYTHON_DROPS)
def test_a_driver_that_drops_a_failure_is_told(name: str, tmp_path: Path) -> None:
    job = driver(tmp_path, PYTHON_DROPS[name])
    assert (bare(tmp_path, *job).returncode, run(tmp_path, *job).returncode) in ((0, 70), (0, 137))
    assert report(tmp_path)["failure_class"] == "masked-exit"
    assert any(place.startswith("drive.py:") for place in report(tmp_path)["locations"])


def test_what_tests_expect_is_a_note_and_strict_fails_on_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "test_it.py").write_text(
        "import os, subprocess, sys, unittest\n"
        "class Suite(unittest.TestCase):\n"
        "    def test_it(self):\n"
        "        with self.assertRaises(subprocess.CalledProcessError):\n"
        "            command = [sys.executable, 'train.py', '--fail']\n"
        "            subprocess.run(command, check=True, env={**os.environ, 'RANK': '0'})\n"
        "unittest.main()\n"
    )
    watched = run(tmp_path, PYTHON, "test_it.py", options=("--strict",))
    assert watched.returncode == 70
    found = report(tmp_path)
    assert (found["outcome"], found["job_exit_code"]) == ("ok", 0)
    assert found["notes"] == ["Rank 0 (train.py) ended with exit code 1; a test of unittest started it"]
    assert found["exit_code_reason"] == (
        "--strict: the job ended with exit code 0, but failures were dealt with on the way"
    )


SUITE = """\
import os, subprocess, sys
import pytest

def leave(rank):
    raise RuntimeError("too big")

def test_spawned_ranks():
    import torch.multiprocessing as mp
    os.environ["RANK"] = "0"
    with pytest.raises(mp.ProcessRaisedException, match="too big"):
        mp.spawn(leave, nprocs=1)

def test_the_command_line():
    command = [sys.executable, "train.py", "--fail"]
    assert subprocess.run(command, env={**os.environ, "RANK": "0"}).returncode == 1
"""


def test_a_suite_of_pytest_with_trainings_that_are_to_fail_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "test_suite.py").write_text(SUITE)
    watched = run(tmp_path, PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert (watched.returncode, report(tmp_path)["outcome"]) == (0, "ok"), watched.stderr
    assert [note.partition(";")[2] for note in report(tmp_path)["notes"]] == [" the tests that pytest ran passed"] * 2
