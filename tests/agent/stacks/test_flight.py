"""The flight recorder on demand: a rank that waits inside C++ answers, and nobody else is disturbed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diagnostics.record.record import agent_environment, make_record_folder

DEADLINE_S = 60
STUCK = """
import os, sys, torch, threading
import torch.distributed as dist
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=int(sys.argv[1]), world_size=2)
print([thread.name for thread in threading.enumerate()], flush=True)
def wait_for_the_other():
    seen = torch.tensor(2.5)
    try:
        raise ValueError("no row")
    finally:
        dist.all_reduce(torch.ones(3)); seen
if sys.argv[1] == "0":
    wait_for_the_other()
else:
    sys.stdin.read()
dist.destroy_process_group()
"""


def _until(condition):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("nothing happened")


@pytest.fixture
def stuck(tmp_path: Path):
    """Two ranks, the first waiting for the second; yields the record's folder and the first one's pid."""
    record = make_record_folder(tmp_path / "record")
    env = {**os.environ, **agent_environment(record, pythonpath=""), "UPS_DOCTOR_FLIGHT": "1", "OMP_NUM_THREADS": "1"}
    (tmp_path / "main.py").write_text(STUCK)
    ranks = [
        subprocess.Popen(
            [sys.executable, "main.py", rank], cwd=tmp_path, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for rank in "01"
    ]
    try:
        for rank in ranks:
            assert rank.stdout.readline() == b"['MainThread']\n"
        yield record, ranks
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
            rank.stdin.close()
            rank.stdout.close()


def _ask(record: Path, pid: int) -> tuple[dict, dict]:
    (fifo,) = record.glob(f"flight-{pid}-*.fifo")
    fd = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    os.write(fd, b"x")
    os.close(fd)
    flight = fifo.with_suffix(".json")
    frames = flight.with_name(flight.name.replace("flight-", "frames-"))
    _until(flight.exists)
    answer = json.loads(frames.read_text()), json.loads(flight.read_text())
    frames.unlink()
    flight.unlink()
    return answer


def test_a_rank_that_waits_inside_cpp_answers_as_often_as_it_is_asked(stuck):
    record, ranks = stuck

    def waiting():
        frames, flight = _ask(record, ranks[0].pid)
        functions = [frame["function"] for frame in frames["threads"][0]["frames"]]
        return (frames, flight) if "wait_for_the_other" in functions and flight.get("entries") else None

    frames, flight = _until(waiting)
    assert [thread["main"] for thread in frames["threads"]] == [True]
    assert flight["entries"][-1]["profiling_name"] == "gloo:all_reduce"
    assert isinstance(frames["group_number"], int)
    (waits,) = (one for one in frames["threads"][0]["frames"] if one["function"] == "wait_for_the_other")
    assert (waits["values"], waits["span"]) == ({"seen": 2.5}, [waits["line"], waits["line"], 8, 38])
    handled = frames["threads"][0]["handles"]
    raised = [(frame["function"], frame["line"]) for frame in handled["frames"]]
    assert (handled["text"], raised) == ("ValueError: no row", [("wait_for_the_other", waits["line"] - 2)])


def test_the_fifo_goes_when_the_process_ends(stuck):
    record, ranks = stuck
    ranks[0].kill()
    ranks[0].wait()
    ranks[1].stdin.close()
    ranks[1].wait()
    assert not list(record.glob(f"flight-{ranks[1].pid}-*.fifo"))
    (left,) = record.glob(f"flight-{ranks[0].pid}-*.fifo")
    with pytest.raises(OSError, match="No such device or address"):
        os.open(left, os.O_WRONLY | os.O_NONBLOCK)


FORKS = """
    import os, torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)

    def fifos():
        links = {int(fd): f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")}
        return [fd for fd, link in links.items() if os.path.exists(link) and os.readlink(link).endswith(".fifo")]

    (number,) = fifos()
    pid = os.fork()
    if not pid:
        print(fifos(), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    with open("mine", "w+") as file:
        file.write("some bytes of the job")
    mine = os.open("mine", os.O_RDONLY)
    os.dup2(mine, number)  # as a job that closes all descriptors, and gets their numbers again
    folder = os.environ["UPS_DOCTOR_DIR"]
    (fifo,) = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".fifo"))
    for _ in range(2):
        fd = os.open(fifo, os.O_WRONLY)
        os.write(fd, b"x")
        os.close(fd)
        answer = fifo.replace(".fifo", ".json")
        while not os.path.exists(answer):
            pass
        os.unlink(answer)
    print(os.lseek(mine, 0, os.SEEK_CUR), flush=True)
    os._exit(0)
"""


def test_forks_and_jobs_that_close_all_descriptors_are_left_alone(watch):
    run = watch(FORKS, env={"UPS_DOCTOR_FLIGHT": "1"})
    assert (run.returncode, run.stdout) == (0, "[]\n0\n"), run.stderr


def test_nobody_listens_unless_asked_to(watch):
    run = watch(FORKS.split("    def fifos")[0])
    assert run.returncode == 0
    assert not list(run.record.folder.glob("flight-*"))
