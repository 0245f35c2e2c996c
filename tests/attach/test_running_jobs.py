"""What `stacks` and `attach` say of real jobs that were started without the doctor."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from outside import DOCTOR, Look, Start

from diagnostics.machine.processes.process_table import read_table

TWO_RANKS = """
import time, torch, torch.distributed as dist
def save():
    time.sleep(1000)
def loop(rank):
    dist.all_reduce(torch.ones(1))
    with open("ready", "a") as file:
        file.write("x\\n")
    if rank == 1:
        save()
    dist.all_reduce(torch.ones(4))
dist.init_process_group("gloo")
loop(dist.get_rank())
"""
COMPUTES = TWO_RANKS.replace("    time.sleep(1000)", "    while True:\n        pass")
APART = """
import os, time, torch, torch.distributed as dist, torch.multiprocessing as mp
def validate():
    dist.barrier()
def train(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    group = dist.new_group([0, 1])
    with open("ready", "a") as file:
        file.write("x\\n")
    if rank == 0:
        validate()
    dist.all_reduce(torch.ones(4), group=group)
if __name__ == "__main__":
    import socket
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    mp.spawn(train, args=(port,), nprocs=2)
"""
HEALTHY = """
import time, torch
from torch.utils.data import DataLoader
def collate(items):
    return torch.stack(items)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
data = [torch.randn(8) for _ in range(64)]
def train(batches, depth):  # no two looks are likely to find the same stack
    for batch in batches:
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with open("ready", "a") as file:
            file.write("x\\n")
        time.sleep(0.02)
        if depth:
            train(batches, depth - 1)
for epoch in range(10**6):
    train(iter(DataLoader(data * 4, batch_size=4, num_workers=1, collate_fn=collate)), 60)
"""
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py")


def report(folder: Path) -> dict[str, Any]:
    (found,) = (folder / "reports").glob("*-attach/report.json")
    value: dict[str, Any] = json.loads(found.read_text())
    return value


def ranks_of(launcher: int) -> dict[str, int]:
    return {row.variables["RANK"]: row.pid for row in read_table().values() if row.ppid == launcher}


def switches(pid: int) -> str:
    """How often the main thread ran: it does not change where nobody touches a process that waits."""
    return re.findall(r"ctxt_switches:\t(\d+)", Path(f"/proc/{pid}/task/{pid}/status").read_text())[0]


def test_the_rank_that_stays_away_is_named_from_any_process_of_the_job_and_the_job_is_not_touched(
    start: Start, look: Look, tmp_path: Path
) -> None:
    job = start(TWO_RANKS, sys.executable, *TORCHRUN, lines=2)
    ranks = ranks_of(job.pid)
    time.sleep(0.5)
    before = {rank: switches(pid) for rank, pid in ranks.items()}
    shown = look("stacks", ranks["1"])
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = [re.sub(r"\.py:\d+ all_reduce", ".py:N all_reduce", line) for line in shown.stdout.splitlines()]
    assert lines[0].startswith("ups-doctor: 2 ranks of 2, 1 launcher; 2 looks in ")
    assert lines[1:14] == [
        "  rank 0      train.py:11 loop: waits in all_reduce   same stack, did not run",
        "  rank 1      train.py:4 save: time.sleep(1000)   same stack, did not run",
        "",
        "stacks, outermost first:",
        "  ranks 0-1",
        "    train.py:13 <module>   loop(dist.get_rank())",
        "    rank 0",
        "      train.py:11 loop   dist.all_reduce(torch.ones(4))",
        "      torch/distributed/distributed_c10d.py:N all_reduce",
        "    rank 1",
        "      train.py:10 loop   save()",
        "      train.py:4 save   time.sleep(1000)",
        "",
    ]
    looked = look("attach", job.pid)
    assert looked.returncode == 1, looked.stdout + looked.stderr
    found = report(tmp_path)
    assert (found["outcome"], found["failure_class"], found["provisional"]) == ("hang", "rank-stalled", True)
    assert (found["culprit_ranks"], found["victim_ranks"], found["location"]) == ([1], [0], "train.py:4")
    assert found["confidence"] == "likely"
    assert [row["ended"] for row in found["ranks"]] == ["runs", "runs"]
    assert {rank: switches(pid) for rank, pid in ranks.items()} == before
    again = subprocess.run(
        [*DOCTOR, "diagnose", str(next((tmp_path / "reports").glob("*-attach")))],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (again.returncode, "rank-stalled on rank 1 at train.py:4" in again.stdout) == (1, True)

    os.kill(ranks["1"], signal.SIGSTOP)
    try:
        stopped = json.loads(look("stacks", job.pid, "--json", "--seconds", "0.2").stdout)
    finally:
        os.kill(ranks["1"], signal.SIGCONT)
    assert [(group["ranks"], group["motion"]) for group in stopped["groups"]] == [([0], "frozen"), ([1], "stopped")]


def test_who_waits_for_a_rank_that_computes_is_told_and_the_command_to_look_again_can_be_pasted(
    start: Start, look: Look
) -> None:
    job = start(COMPUTES, sys.executable, *TORCHRUN, lines=2)
    time.sleep(0.5)
    looked = look("attach", job.pid, "--seconds", "3")
    assert looked.returncode == 3, looked.stdout + looked.stderr
    said = " ".join(looked.stdout.split())
    assert re.search(r"Rank 0 waited in all_reduce at train.py:12 for rank 1, which worked at train.py:[45], for", said)
    assert f"`ups-doctor attach {job.pid} --seconds 60`" in looked.stdout


def test_ranks_that_a_script_spawned_and_that_wait_in_different_calls_are_told_apart(
    start: Start, look: Look, tmp_path: Path
) -> None:
    job = start(APART, lines=2)
    time.sleep(0.5)
    looked = look("attach", job.pid, "--seconds", "3")
    assert looked.returncode == 1, looked.stdout + looked.stderr
    found = report(tmp_path)
    assert (found["outcome"], found["failure_class"], found["confidence"]) == ("hang", "collective-mismatch", "likely")
    assert found["locations"] == ["train.py:11", "train.py:4", "train.py:13"]
    assert found["root_cause"] == (
        "Rank 0 waits in barrier at train.py:4, rank 1 waits in all_reduce at train.py:13: they wait for each other. "
        "Their ways part at train.py:11: if rank == 0:"
    )


def test_a_healthy_job_goes_on_with_a_data_worker_below_its_rank(start: Start, look: Look, tmp_path: Path) -> None:
    job = start(HEALTHY)
    steps = (tmp_path / "ready").read_text().count("\n")
    looked = look("attach", job.pid, "--seconds", "2")
    assert looked.returncode == 0, looked.stdout + looked.stderr
    assert looked.stdout.splitlines()[0] == "ups-doctor: Provisional: The job goes on."
    assert (report(tmp_path)["outcome"], report(tmp_path)["failure_class"]) == ("ok", "none")
    assert (tmp_path / "ready").read_text().count("\n") > steps
    assert job.poll() is None
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "ready", "stderr", "reports"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root may give up SYS_PTRACE")
def test_without_ptrace_it_says_what_the_kernel_tells_and_what_would_help(start: Start, look: Look) -> None:
    job = start("open('ready', 'w').write('x\\n')\nimport time\ntime.sleep(1000)")
    refused = ("setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace")
    shown = look("stacks", job.pid, "--seconds", "0.3", before=refused)
    assert shown.stdout.splitlines()[1] == f"  pid {job.pid:<7} no stack: {sys.executable} train.py   did not run"
    assert shown.stderr == (
        "not seen: stacks: the kernel refuses to read other processes; start the container with --cap-add SYS_PTRACE, "
        "or look from the host: sudo ups-doctor stacks PID\n"
    )
    looked = look("attach", job.pid, "--seconds", "1", before=refused)
    assert looked.returncode == 3, looked.stdout + looked.stderr
    assert looked.stdout.splitlines()[0] == (
        "ups-doctor: Provisional: Whether the job goes on cannot be told; here is what was seen."
    )


@pytest.mark.parametrize("command", ["stacks", "attach"])
def test_what_is_no_job_is_one_sentence(look: Look, command: str) -> None:
    sleeper = subprocess.Popen(["sleep", "100"])
    ended = subprocess.Popen(["true"])
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        told = {
            sleeper.pid: f"error: pid {sleeper.pid} (sleep 100) runs no Python, and nothing below it does",
            ended.pid: f"error: pid {ended.pid} has ended; only its parent, pid {os.getpid()}, has yet to take its "
            "exit code",
            4_194_305: "error: there is no process 4194305",
        }
        for pid, words in told.items():
            answer = look(command, pid)
            assert (answer.returncode, answer.stdout, answer.stderr.splitlines()[0]) == (2, "", words)
    finally:
        sleeper.kill()
        sleeper.wait()
        ended.wait()
