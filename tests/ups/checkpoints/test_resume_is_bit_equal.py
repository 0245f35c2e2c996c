"""A run that was interrupted and went on must be the run that never stopped: every tensor, every number."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import newest, processes_marked, start, ups, wait_until, write_config, write_data

from ups.checkpointing.export import content_of

TIMED = ("seconds",)
# Random at each step: which points are decoded, dropout, noise on the latents.
RANDOM: dict[str, Any] = {
    "latent": {"query_points": 9},
    "operator": {"dropout": 0.1, "input_noise": 0.05},
    "objective": {"rollout": 2, "rollout_from": 0.3, "inverse": 0.1},  # both change from step to step
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


def plain(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = torch.load(path, weights_only=True) if path.is_file() else content_of(path)
    return content


def differences(one: Path, other: Path) -> list[str]:
    """Returns the names of all leaves of two checkpoints that are not equal bit by bit."""
    first, second = (flat(plain(path)) for path in (one, other))
    names = sorted(first.keys() | second.keys())
    return [name for name in names if not name.startswith(OWN) and not equal(first.get(name), second.get(name))]


OWN = ("/config", "/spec/path", "/metrics_bytes", "/time")  # the two runs lie in different folders, at other times


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return bool(one == other)


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMED} for line in lines]


def numbers(folder: Path) -> list[dict[str, float]]:
    return [{key: value for key, value in one.items() if not isinstance(value, str)} for one in metrics(folder)]


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("best.pt", "autoencoder.pt", newest(one).name):
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
        position = plain(newest(tmp_path / "cut"))["position"]
        assert position["step"] == stop_at
        assert position["batch"] > 0
    rest = ups("train", config, "--no-preflight", "--resume")
    assert rest.returncode == 0, rest.stderr
    assert_same_run(uninterrupted, tmp_path / "cut")


def test_a_run_killed_without_warning_goes_on_bit_equal(uninterrupted: Path, tmp_path: Path) -> None:
    config = configuration(tmp_path / "cut")
    process = start(["train", config, "--no-preflight"], mark := f"kill-{os.getpid()}", tmp_path / "log")
    wait_until(lambda: newest(tmp_path / "cut") is not None)
    for pid in processes_marked(mark):
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=20)
    rest = ups("train", config, "--no-preflight", "--resume")
    assert rest.returncode == 0, rest.stderr
    assert_same_run(uninterrupted, tmp_path / "cut")


def test_two_checkpoints_that_differ_are_told_apart(uninterrupted: Path, tmp_path: Path) -> None:
    """The failing twin of the comparison above."""
    path = newest(uninterrupted)
    changed = plain(path)
    name, weight = next(iter(changed["model"].items()))
    weight.view(-1)[0] = torch.nextafter(weight.view(-1)[0], torch.tensor(9.0))
    torch.save(changed, tmp_path / "other.pt")
    assert differences(path, tmp_path / "other.pt") == [f"/model/{name}"]


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


@pytest.mark.parametrize("ranks", [1, 3])
def test_another_number_of_ranks_goes_on_with_the_same_batches(tmp_path: Path, ranks: int) -> None:
    """Nothing here is random in a step, so what differs is the order in which sums are rounded."""
    (tmp_path / "two").mkdir()
    write_data(tmp_path / "two")
    stage = {"epochs": 3, "batch_size": 7, "lr": 0.003}
    config = write_config(tmp_path / "two", stages={"autoencoder": stage, "operator": stage})
    first = ups("train", config, "--no-preflight", "--stage", "autoencoder", "--set", "stages.autoencoder.max_steps=7")
    assert first.returncode == 0, first.stderr
    shutil.copytree(tmp_path / "two", tmp_path / "other")
    there = ("--set", f"output.dir={tmp_path / 'other/run'}", "--nproc", str(ranks))
    for more in ((), there):
        rest = ups("train", config, "--no-preflight", "--resume", "--stage", "autoencoder", *more)
        assert rest.returncode == 0, rest.stderr
    more = "; ranks 2 to 2 draw new random numbers" if ranks == 3 else ""
    said = f"written by 2 ranks, goes on with {ranks}: the same batches in the same order{more}"
    assert said in rest.stderr.splitlines()
    one, other = (numbers(tmp_path / name) for name in ("two", "other"))
    assert one == [pytest.approx(line, rel=1e-4) for line in other]
