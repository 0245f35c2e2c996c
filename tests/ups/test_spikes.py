"""A step far from its own history: told, its samples kept, left out or gone back from; a steady run is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from ups import checkpoint
from ups.config import DataConfig, StageConfig, StagesConfig, TrainingConfig, UpsConfig
from ups.data.sampler import GlobalBatchSampler
from ups.distributed import World
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages.contract import Quiet
from ups.step.spike import LEAST_HISTORY, MOST_IN_A_ROW, History, SpikeGuard
from ups.train import Loop, Surroundings

ALONE = World(rank=0, local_rank=0, size=1, backend="gloo", device=torch.device("cpu"))
BAD = 37  # the sample whose target is wrong


class Rows(torch.utils.data.Dataset[dict[str, Any]]):
    """A linear relation with noise; one row of it may be wrong by far."""

    def __init__(self, bad: bool) -> None:
        random = torch.Generator().manual_seed(5)
        self.x = torch.randn(64, 6, generator=random)
        self.y = self.x.sum(1, keepdim=True) + 0.3 * torch.randn(64, 1, generator=random)
        if bad:
            self.y[BAD] = 1e4

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"x": self.x[index], "y": self.y[index]}


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(6, 1)

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return (self.net(batch["x"]) - batch["y"]).square().mean(1)


class Stage(Quiet):
    NAME = "operator"

    def __init__(self, bad: bool) -> None:
        self.train_dataset, self.validation_dataset = Rows(bad), Rows(bad=False)

    def build(self) -> nn.Module:
        return Loss()

    def validate(self, module: nn.Module, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"nrmse": module(batch)}

    def finish(self, module: nn.Module) -> dict[str, Any]:
        return {"operator": module.state_dict()}


class Told:
    """Records of which what else than steps and epochs is remembered."""

    size = 0

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def log(self, record: dict[str, Any]) -> None:
        if record["kind"] not in ("step", "epoch"):
            self.kinds.append(record["kind"])

    def close(self) -> None:
        """Nothing is open."""


def trained(
    folder: Path, action: Any, *, bad: bool = True, seed: int = 17, batch_size: int = 4, every: int = 5
) -> tuple[Loop, list[str]]:
    """Returns the loop after four epochs, and what it said."""
    stage = StageConfig(epochs=4, batch_size=batch_size, lr=0.02, grad_clip=0.0)
    training = TrainingConfig(spike=action, checkpoint_every_steps=every)
    config = UpsConfig(
        data=DataConfig(task="advection1d"), seed=seed, stages=StagesConfig(operator=stage), training=training
    )
    (folder / "checkpoints").mkdir(exist_ok=True)
    told = Told()
    around = Surroundings(RunFolder(folder), (told,), Display(shown=False), {"format": checkpoint.FORMAT})
    loop = Loop(Stage(bad), config, ALONE, around, None)  # type: ignore[arg-type]
    loop.run()
    return loop, told.kinds


def spikes(folder: Path) -> list[dict[str, Any]]:
    file = folder / "spikes.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_batch_with_a_wrong_sample_is_told_with_its_samples_and_left_out_or_not(tmp_path: Path) -> None:
    weights = {}
    for action in ("keep", "skip", "rewind"):
        folder = tmp_path / action
        folder.mkdir()
        loop, told = trained(folder, action)
        found = spikes(folder)
        # Once in each epoch; in the first one there is no history yet.
        assert [(one["epoch"], one["batch"]) for one in found] == [(1, 10), (2, 8), (3, 8)]
        assert all(BAD in one["samples"] and one["samples"] == order(loop, one) for one in found)
        assert (told, loop.position.step) == (["spike"] * 3, 64)
        weights[action] = loop.module.state_dict()["net.weight"]
    assert torch.equal(weights["skip"], weights["rewind"])  # the way back and again is bit by bit the same
    assert not torch.equal(weights["skip"], weights["keep"])


def test_a_stage_without_a_checkpoint_of_its_own_leaves_the_batch_out(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/last.pt").write_bytes(b"that of the stage before")
    loop, told = trained(tmp_path, "rewind", seed=14, batch_size=2, every=1000)
    # In the first epoch there is nothing to go back to; at its end a checkpoint is written.
    places = [(epoch, loop.sampler.order(epoch).index(BAD) // 2) for epoch in range(4)]
    assert [(one["epoch"], one["batch"]) for one in spikes(tmp_path)] == places
    assert (told, loop.position.step) == (["spike"] * 4, 128)


def order(loop: Loop, one: dict[str, Any]) -> list[int]:
    return loop.sampler.order(one["epoch"])[4 * one["batch"] : 4 * one["batch"] + 4]


@pytest.mark.parametrize("action", ["off", "keep", "rewind"])
def test_a_run_without_a_wrong_sample_is_left_alone(tmp_path: Path, action: str) -> None:
    loop, told = trained(tmp_path, action, bad=False)
    assert (loop.position.step, told, spikes(tmp_path)) == (64, [], [])


def test_nothing_is_judged_before_there_is_a_history_nor_a_drift_ever() -> None:
    history = History()
    for _ in range(LEAST_HISTORY):
        assert history.factor(1e9) == 0.0
        history.add(1.0)
    assert history.factor(1e9) == pytest.approx(1e9)
    assert history.factor(3.9) == 0.0  # less than the least factor
    for step in range(500):
        value = 1.0 + 0.01 * step
        assert history.factor(value) == 0.0
        history.add(value)


def test_a_new_level_is_told_a_few_times_and_then_taken_as_it_is(tmp_path: Path) -> None:
    told = Told()
    around = Surroundings(RunFolder(tmp_path), (told,), Display(shown=False), {})
    guard = SpikeGuard("skip", ALONE, "operator", GlobalBatchSampler(64, 4, 0, 1, 17, shuffle=True), around)
    admitted = [
        guard.admits(torch.tensor(4.0 * level), torch.tensor(1.0), 4, 0, 0, step)
        for step, level in enumerate([1.0] * 30 + [50.0] * 30)
    ]
    assert admitted == [True] * 30 + [False] * MOST_IN_A_ROW + [True] * 25
    assert told.kinds == ["spike"] * MOST_IN_A_ROW
