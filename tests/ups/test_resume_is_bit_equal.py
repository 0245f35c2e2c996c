"""A run that was interrupted and went on must be the run that never stopped: every tensor, every number."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import processes_marked, start, ups, wait_until, write_config, write_data

TIMED = ("seconds",)
# Random at each step: which points are decoded, dropout, noise on the latents.
RANDOM: dict[str, Any] = {
    "latent": {"query_points": 9},
    "operator": {"dropout": 0.1, "input_noise": 0.05},
    "training": {"checkpoint_every_steps": 3},
}


def configuration(folder: Path, **training: Any) -> Path:
    folder.mkdir()
    write_data(folder)
    stage = {"epochs": 3, "batch_size": 7, "lr": 0.003, "accumulate": 2}
    sections = {name: dict(keys) for name, keys in RANDOM.items()}
    sections["training"].update(training)
    return write_config(folder, stages={"autoencoder": stage, "operator": stage}, **sections)


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Returns every leaf of a checkpoint by its path."""
    if isinstance(value, dict):
        return {key: leaf for part, item in value.items() for key, leaf in flat(item, f"{name}/{part}").items()}
    if isinstance(value, (list, tuple)):
        return {key: leaf for part, item in enumerate(value) for key, leaf in flat(item, f"{name}/{part}").items()}
    return {name: value}


def differences(one: Path, other: Path) -> list[str]:
    """Returns the names of all leaves of two checkpoints that are not equal bit by bit."""
    first, second = (flat(torch.load(path, weights_only=True)) for path in (one, other))
    names = sorted(first.keys() | second.keys())
    return [name for name in names if not name.startswith(OWN) and not equal(first.get(name), second.get(name))]


OWN = ("/config", "/spec/path", "/metrics_bytes")  # the two runs lie in different folders, at other times


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return bool(one == other)


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMED} for line in lines]


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("last.pt", "best.pt", "autoencoder.pt"):
        assert differences(one / "run/checkpoints" / name, other / "run/checkpoints" / name) == []
    assert metrics(one) == metrics(other)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resume") / "whole"
    done = ups("train", configuration(folder), "--no-preflight")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_run_stopped_in_mid_epoch_goes_on_bit_equal_with_workers_too(uninterrupted: Path, tmp_path: Path) -> None:
    config = configuration(tmp_path / "cut", workers=1)
    # An epoch has 5 steps of the autoencoder (32 frames) and 4 of the operator (24 pairs).
    for stage, stop_at in (("autoencoder", 7), ("operator", 6)):
        goes_on = () if stage == "autoencoder" else ("--resume",)
        first = ups("train", config, "--no-preflight", "--set", f"stages.{stage}.max_steps={stop_at}",
                    "--stage", "autoencoder" if stage == "autoencoder" else "all", *goes_on)  # fmt: skip
        assert first.returncode == 0, first.stderr
        position = torch.load(tmp_path / "cut/run/checkpoints/last.pt", weights_only=True)["position"]
        assert position["step"] == stop_at
        assert position["batch"] > 0
    rest = ups("train", config, "--no-preflight", "--resume")
    assert rest.returncode == 0, rest.stderr
    assert_same_run(uninterrupted, tmp_path / "cut")


def test_a_run_killed_without_warning_goes_on_bit_equal(uninterrupted: Path, tmp_path: Path) -> None:
    config, last = configuration(tmp_path / "cut"), tmp_path / "cut/run/checkpoints/last.pt"
    process = start(["train", config, "--no-preflight"], mark := f"kill-{os.getpid()}", tmp_path / "log")
    wait_until(last.exists)
    for pid in processes_marked(mark):
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=20)
    rest = ups("train", config, "--no-preflight", "--resume")
    assert rest.returncode == 0, rest.stderr
    assert_same_run(uninterrupted, tmp_path / "cut")


def test_two_checkpoints_that_differ_are_told_apart(uninterrupted: Path, tmp_path: Path) -> None:
    """The failing twin of the comparison above."""
    path = uninterrupted / "run/checkpoints/last.pt"
    changed = torch.load(path, weights_only=True)
    name, weight = next(iter(changed["model"].items()))
    weight.view(-1)[0] = torch.nextafter(weight.view(-1)[0], torch.tensor(9.0))
    torch.save(changed, tmp_path / "last.pt")
    assert differences(path, tmp_path / "last.pt") == [f"/model/{name}"]


def test_another_configuration_is_refused_and_names_each_key(uninterrupted: Path) -> None:
    config = uninterrupted / "small.yaml"
    refused = ups("train", config, "--no-preflight", "--resume", "--set", "stages.operator.lr=0.5")
    assert (refused.returncode, refused.stderr.splitlines()) == (
        2,
        [
            f"error: the run in {uninterrupted}/run cannot go on with another configuration: "
            "stages.operator.lr was 0.003 and is 0.5",
            f"  put it back, or start another run: --set output.dir={uninterrupted}/run-2",
        ],
    )


def test_another_number_of_ranks_is_refused(uninterrupted: Path) -> None:
    refused = ups("train", uninterrupted / "small.yaml", "--no-preflight", "--resume", "--nproc", "1")
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        f"error: {uninterrupted}/run/checkpoints/last.pt was written by 2 ranks and cannot go on with 1: "
        "each rank has a random state of its own",
        "  --nproc 2",
    ]
