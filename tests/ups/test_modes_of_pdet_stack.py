"""pdet_stack on the cells themselves, shared by two ranks: its waves are real numbers that every strategy can move."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from modes_rank import ALONE, trained
from small_run import launch, write_config, write_data

from ups.config import load_config

PROGRAM = Path(__file__).with_name("modes_rank.py")
MODES = {
    "ddp": ({}, 1e-5),
    "ddp, micro-batches": ({"micro_batch": 3}, 1e-5),
    "fsdp2, micro-batches": ({"strategy": "fsdp2", "micro_batch": 3}, 1e-5),
    "ddp, bfloat16": ({"precision": "bf16"}, 2e-2),
}


def test_every_mode_comes_to_what_one_rank_comes_to(tmp_path: Path) -> None:
    with h5py.File(write_data(tmp_path), "a") as file:
        # Where a step keeps the mean, the last bias has a gradient that is nothing but rounding, and Adam makes whole
        # steps of it: here the mean decays.
        fading = np.exp(-0.3 * np.arange(file["tensor"].shape[1]))[:, None]
        file["tensor"][...] = np.exp(file["tensor"][...]) * fading
    stage = {"epochs": 2, "batch_size": 13, "lr": 0.004}
    config = write_config(
        tmp_path,
        latent={"exact": True, "patch": 1, "dim": 1},
        operator={"architecture": "pdet_stack", "depths": [2], "window": 4, "modes": 5},
        stages={"autoencoder": dict(stage), "operator": dict(stage)},
    )
    alone = trained(load_config(config), ALONE, {"strategy": "none"})
    file = tmp_path / "found.json"
    ended = launch(PROGRAM, file, config, json.dumps({name: mode for name, (mode, _) in MODES.items()}), nproc=2)
    assert {one.exit_code for one in ended.ended} == {0}, ended
    found = json.loads(file.read_text())
    for name, (_, tolerance) in MODES.items():
        assert found[name]["operator"] == pytest.approx(alone["operator"], rel=tolerance), name
        assert found[name]["operator alike"], name
