"""`ups data` as real processes: results, refusals, and ends in the middle."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

UPS = [sys.executable, "-c", "from ups.cli import main; main()", "data"]
SLOW = [*UPS, "generate", "burgers1d", "--samples", "400", "--parameter", "0.001", "--jobs", "2", "--root"]


def ups(*arguments):
    return subprocess.run([*UPS, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def test_a_generated_file_is_made_once_and_described(tmp_path):
    arguments = ["generate", "darcy2d", "--samples", 3, "--resolution", 8, "--root", tmp_path]
    path = tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5"
    first, again, info = ups(*arguments), ups(*arguments), ups("info", path, "--json")
    assert (first.returncode, first.stdout) == (0, f"{path}: 3 samples, 0.0 MiB\n")
    assert (again.returncode, again.stdout) == (0, f"{path} is there already, same recipe\n")
    assert json.loads(info.stdout)["datasets"]["tensor"]["shape"] == [3, 1, 8, 8]


def test_wrong_use_is_one_sentence_and_exit_code_2(tmp_path):
    unknown = ups("generate", "heat1d", "--root", tmp_path)
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "error: unknown task 'heat1d'\n  the tasks are advection1d, burgers1d, darcy2d, reacdiff2d, diffreact2d\n",
    )
    missing = ups("info", tmp_path / "none.hdf5")
    assert (missing.returncode, missing.stderr.splitlines()[0]) == (
        2,
        f"error: cannot read {tmp_path / 'none.hdf5'}: no such file or folder",
    )


def begun(root):
    """Starts a long generation and returns it once its file is being written and its workers run."""
    process = subprocess.Popen([*SLOW, str(root)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        children = psutil.Process(process.pid).children(recursive=True)
        if len(children) >= 2 and list(root.glob(".*.partial-*")):
            return process, children
        time.sleep(0.05)
    process.kill()
    raise AssertionError("the generation did not start within 60 s")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_generation_leaves_no_file_and_no_process(tmp_path, number):
    process, children = begun(tmp_path)
    os.killpg(process.pid, number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert stderr.splitlines()[-1] == f"interrupted by {'Ctrl-C' if number == signal.SIGINT else 'SIGTERM'}"
    assert "Traceback" not in stderr
    assert not psutil.wait_procs(children, timeout=30)[1]
    assert list(tmp_path.iterdir()) == []


def test_a_killed_generation_leaves_nothing_under_the_final_name_and_no_process(tmp_path):
    process, children = begun(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    assert not psutil.wait_procs(children, timeout=30)[1]
    assert [path.name[:9] for path in tmp_path.iterdir()] == [".1D_Burge"]
    small = ups("generate", "burgers1d", "--samples", 1, "--parameter", 0.001, "--frames", 2, "--end-time", 0.01,
                "--resolution", 8, "--root", tmp_path)  # fmt: skip
    assert small.returncode == 0, small.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["1D_Burgers_Sols_Nu0.001.hdf5"]
