"""`srun ups train CONFIG`: each task is a rank, as Slurm's variables say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_run import PROGRAM, clean_environment, write_config, write_data

from ups.errors import ConfigError
from ups.launch.slurm_step import first_node, variables

STEP = {
    "SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NODEID": "2", "SLURM_STEP_NUM_TASKS": "7",
    "SLURM_STEP_NODELIST": "gpu[03-05,9],other", "SLURM_STEP_NUM_NODES": "4",
    "SLURM_STEP_TASKS_PER_NODE": "2(x3),1", "SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "first"),
    [("gpu03", "gpu03"), ("a1,b2", "a1"), ("gpu[03-07,9],login1", "gpu03"), ("n[7,9]", "n7"), ("r[1-2]-ib", "r1-ib")],
)
def test_the_first_node_of_a_list_as_slurm_shortens_it(nodes: str, first: str) -> None:
    assert first_node(nodes) == first


def test_a_task_of_a_step_is_a_rank() -> None:
    found = variables(STEP, port=None)
    port = int(found.pop("MASTER_PORT"))
    assert 20_000 <= port < 40_000
    assert found == {
        "RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "7", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "gpu03",
    }  # fmt: skip
    assert variables(STEP, port=29_500)["MASTER_PORT"] == "29500"


def test_a_step_of_one_task_a_batch_script_and_ranks_of_torchrun_start_as_ever() -> None:
    assert variables(STEP | {"SLURM_STEP_NUM_TASKS": "1"}, None) == {}
    assert variables({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "1"}, None) == {}
    assert variables(STEP | {"RANK": "0"}, None) == {}


def test_a_step_whose_place_is_not_told_is_refused() -> None:
    with pytest.raises(ConfigError, match="SLURM_PROCID is not set"):
        variables({name: value for name, value in STEP.items() if name != "SLURM_PROCID"}, None)


@contextmanager
def tasks(folder: Path, config: Path, port: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Starts two tasks as srun does on one node; their variables are those of a step."""
    started = []
    for rank in ("0", "1"):
        environ = STEP | {
            "SLURM_PROCID": rank, "SLURM_LOCALID": rank, "SLURM_NODEID": "0", "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_STEP_NODELIST": "here", "SLURM_STEP_NUM_NODES": "1", "SLURM_STEP_TASKS_PER_NODE": "2",
        }  # fmt: skip
        started.append(
            subprocess.Popen(
                [sys.executable, *PROGRAM, "train", str(config), "--set", f"training.port={port}"],
                env=clean_environment() | environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
            )
        )
    try:
        yield started
    finally:
        for one in started:
            one.kill()
            one.communicate()


def test_two_tasks_train_as_two_ranks_of_one_run(tmp_path: Path) -> None:
    write_data(tmp_path)
    stage = {"epochs": 1, "batch_size": 8}
    config = write_config(tmp_path, stages={"autoencoder": stage, "operator": stage}, training={"timeout_s": 120.0})
    with tasks(tmp_path, config, 21_000 + os.getpid() % 9_000) as started:
        said = [one.communicate(timeout=240) for one in started]
        assert [one.returncode for one in started] == [0, 0], said
    assert said[0][0].startswith("completed: 2 ranks, "), said
    assert said[1][0] == ""
