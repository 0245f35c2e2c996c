"""After the work, the process group and its threads are gone: no healthy run may abort at interpreter exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_run import clean_environment, ups, write_config, write_data

from ups.distributed import choose_backend
from ups.errors import ConfigError

ONE_STEP = """
import os, gc, torch, torch.distributed as dist
os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
def step():
    module = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
    module(torch.ones(2, 3)).sum().backward()
"""
OURS = """
from ups import distributed
distributed.begin(backend="gloo")
step()
assert distributed.group_threads(), "the group has no threads to look for"
distributed.end()
print("left:", distributed.group_threads())
"""
# What torch's own order does: DDP imports torch.distributed.nn while the group exists, and keeps it.
TORCHS = """
dist.init_process_group("gloo")
step()
dist.destroy_process_group()
gc.collect()
from ups import distributed
print("left:", distributed.group_threads())
"""


def said_by(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=clean_environment(),
    )
    return done.stdout.strip() or done.stderr


def test_no_thread_of_the_process_group_is_left_after_end() -> None:
    assert said_by(ONE_STEP + OURS) == "left: []"


def test_threads_that_stay_are_seen() -> None:
    assert "gloo_tcp_loop" in said_by(ONE_STEP + TORCHS)


@pytest.mark.slow
def test_trainings_on_two_ranks_exit_0_each(tmp_path: Path) -> None:
    # An interpreter for each rank: what it imports late, and when, is part of how it ends.
    write_data(tmp_path, samples=6, frames=2)
    config = write_config(tmp_path)
    # `python tests/benchmarks/clean_ends.py` does it thirty times.
    for number in range(6):
        options = ("--no-preflight", "--set", f"output.dir={tmp_path}/run-{number}")
        done = ups("train", config, *options, environ={"UPS_TEST_COLD_RANKS": "1"})
        assert (number, done.returncode) == (number, 0), done.stderr
        assert "completed: 2 ranks" in done.stdout


@pytest.mark.parametrize(
    ("wanted", "cuda", "nccl", "backend", "said"),
    [
        ("auto", False, False, "gloo", ""),
        ("auto", True, True, "nccl", ""),
        ("auto", True, False, "gloo", "this torch was built without NCCL: the ranks talk over gloo, on the CPU"),
        ("gloo", True, True, "gloo", "backend gloo was asked for: the GPUs are not used"),
        ("nccl", True, True, "nccl", ""),
    ],
)
def test_the_backend_follows_the_machine_and_a_fallback_is_said_aloud(
    wanted: str, cuda: bool, nccl: bool, backend: str, said: str
) -> None:
    assert choose_backend(wanted, cuda=cuda, nccl=nccl) == (backend, said)  # type: ignore[arg-type]


def test_nccl_without_a_gpu_is_refused() -> None:
    with pytest.raises(ConfigError, match="backend nccl was asked for, but there is no GPU"):
        choose_backend("nccl", cuda=False, nccl=True)
