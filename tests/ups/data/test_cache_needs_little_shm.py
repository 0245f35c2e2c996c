"""Eight workers read a cache that is twice as large as /dev/shm, and none of them keeps a copy of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_run import clean_environment

from ups.data.loaders import Refused, batches, collate, collate_arrays

READER = Path(__file__).with_name("shm_reader.py")
ROOT = READER.parents[3]
SMALL_SHM = 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"'


def in_small_shm(*argv: str) -> list[str]:
    """Returns the command that runs in a mount namespace whose /dev/shm holds 64 MiB, as in a plain container."""
    return ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", SMALL_SHM, "sh", *argv]


@pytest.fixture(scope="module")
def _small_shm() -> None:
    try:
        tried = subprocess.run(in_small_shm("true"), capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare(1) of util-linux")
    if tried.returncode:
        pytest.skip(f"a /dev/shm of 64 MiB cannot be mounted here: {tried.stderr.decode().strip()}")


@pytest.mark.slow
@pytest.mark.usefixtures("_small_shm")
@pytest.mark.parametrize(("layout", "batch", "by_pipe"), [("npy", 4, False), ("npy", 32, True), ("pt", 4, False)])
def test_a_dev_shm_of_64_mib_is_enough_for_eight_workers(
    layout: str, batch: int, by_pipe: bool, tmp_path: Path
) -> None:
    told = read_with_eight_workers(tmp_path, layout, str(batch))
    assert (told["items"], told["shm_mb"], told["by_pipe"]) == (1000, 64, by_pipe)
    assert told["cache_mb"] > 2 * told["shm_mb"]
    assert told["shm_peak_mb"] < 64
    assert told["grown_mb"] < told["cache_mb"] / 3


@pytest.mark.slow
@pytest.mark.usefixtures("_small_shm")
def test_the_memory_of_workers_that_keep_what_they_read_is_seen_to_grow(tmp_path: Path) -> None:
    told = read_with_eight_workers(tmp_path, "npy", "4", "keep")
    assert told["grown_mb"] > told["cache_mb"] / 2


def read_with_eight_workers(folder: Path, *argv: str) -> dict[str, Any]:
    done = subprocess.run(
        in_small_shm(sys.executable, str(READER), str(folder), *argv),
        env=clean_environment() | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_batches_sent_through_a_pipe_are_the_batches_sent_through_shm() -> None:
    items = {"z_in": torch.arange(12.0).reshape(4, 3), "frame": torch.arange(4)}
    as_tensors, as_arrays = ([make(dict(items))] for make in (collate, collate_arrays))
    assert isinstance(as_arrays[0]["z_in"], np.ndarray)
    (one,), (other,) = list(batches(as_tensors)), list(batches(as_arrays))  # type: ignore[arg-type]
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert collate_arrays(Refused("damaged", "rebuild")) == Refused("damaged", "rebuild")
