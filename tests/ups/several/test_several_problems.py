"""Three equations of two dimensions in one run: real data, real ranks, through autoencoder, cache and operator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import newest, ups
from three_problems import NAMES, TASKS, epochs, made_data, train, write

from ups.checkpoint import load_best
from ups.checkpointing.export import content_of


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_data(tmp_path_factory.mktemp("problems"))


@pytest.fixture(scope="module")
def whole(data: Path) -> Path:
    done = train(write(data.parent, data, "whole"))
    assert done.returncode == 0, done.stderr
    return data.parent / "whole"


def test_two_ranks_train_to_the_numbers_of_one(data: Path, whole: Path) -> None:
    for nproc in (1, 2):
        done = train(write(data.parent, data, f"ranks{nproc}", operator={"dropout": 0.0}), nproc)
        assert done.returncode == 0, done.stderr
    one, two = (epochs(data.parent / f"ranks{nproc}") for nproc in (1, 2))
    assert len(one) == 4
    for first, second in zip(one, two, strict=True):
        for key in ("train_loss", "validation_nrmse", *(f"validation_nrmse_{name}" for name in NAMES)):
            assert second[key] == pytest.approx(first[key], rel=1e-4), key


def test_the_error_is_the_mean_of_the_problems_own(whole: Path) -> None:
    for row in epochs(whole):
        own = [row[f"validation_nrmse_{name}"] for name in NAMES]
        assert row["validation_nrmse"] == pytest.approx(sum(own) / 3, rel=1e-5)


def test_a_run_that_stopped_in_mid_epoch_goes_on_bit_by_bit(data: Path, whole: Path) -> None:
    config = write(data.parent, data, "again")
    assert train(config, 1, "--set", "stages.operator.max_steps=7").returncode == 0
    folder = data.parent / "again"
    position = content_of(newest(folder))["position"]
    assert (position["step"], position["batch"] > 0) == (7, True)
    done = train(config, 1, "--resume")
    assert done.returncode == 0, done.stderr
    first, second = (content_of(newest(one)) for one in (whole, folder))
    assert first["position"] == second["position"]
    for part in ("model", "ema"):
        assert first[part].keys() == second[part].keys()
        assert all(torch.equal(value, second[part][name]) for name, value in first[part].items())


@pytest.mark.parametrize("name", NAMES)
def test_each_problem_is_evaluated_in_its_own_units(whole: Path, name: str, tmp_path: Path) -> None:
    best = whole / "run/checkpoints/best.pt"
    done = ups("evaluate", best, "--task", name, "--split", "validation", "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["task"] == name
    kept = load_best(best, name)
    row = next(one for one in epochs(whole) if one["stage"] == "operator" and one["epoch"] == kept.epoch)
    assert numbers["one_step"]["model"]["nRMSE"] == pytest.approx(row[f"validation_nrmse_{name}"], rel=0.02)


def test_a_problem_that_is_not_named_or_not_there_is_one_sentence(whole: Path) -> None:
    best = whole / "run/checkpoints/best.pt"
    unnamed, mistyped = ups("evaluate", best), ups("evaluate", best, "--task", "darcy")
    assert (unnamed.returncode, mistyped.returncode) == (2, 2)
    assert unnamed.stderr.splitlines()[0].endswith("is of several problems: advection1d, burgers1d, darcy2d")
    assert mistyped.stderr.splitlines()[0].endswith("has no problem 'darcy'; did you mean 'darcy2d'?")


def test_a_cache_that_was_built_is_read_again_and_says_what_it_holds(data: Path, whole: Path) -> None:
    config = data.parent / "whole.yaml"
    built = ups("cache", "build", config)
    assert (built.returncode, built.stdout.count("latent cache reused")) == (0, 3)
    shutil.rmtree(whole / "run/cache/darcy2d")
    assert ups("cache", "build", config).stdout.count("latent cache built") == 1
    assert "burgers1d" in ups("cache", "info", config, "--task", "burgers1d").stdout


REFUSED: list[tuple[dict[str, dict[str, Any]], str]] = [
    ({"stages": {"run": ["autoencoder", "operator", "diffusion"]}}, "stage diffusion is trained on one problem"),
    ({"training": {"strategy": "fsdp2"}}, "training.strategy=fsdp2 shards one model"),
    ({"training": {"compile": True}}, "training.compile needs batches that look alike"),
    ({"training": {"micro_batch": "auto"}}, "training.micro_batch=auto tries one batch"),
    ({"data": {"balance": {"batches": "mixed"}}}, "data.balance.batches=mixed needs one shape"),
    ({"data": {"task": "darcy2d"}}, "data.task darcy2d stands beside data.tasks"),
    ({"data": {"parameter": 0.4}}, "data.parameter stands beside data.tasks"),
    ({"data": {"tasks": [TASKS[0], TASKS[0]]}}, "two of data.tasks are called 'advection1d'"),
    ({"data": {"tasks": [{**TASKS[0], "weigh": 2.0}]}}, "did you mean 'weight'?"),
    ({"data": {"balance": {"by": "temper"}}}, "did you mean 'temperature'?"),
    ({"stages": {"autoencoder": {"batch_size": 200}}}, "has none for problem"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED)
def test_what_does_not_fit_is_one_sentence_and_nothing_is_written(
    data: Path, tmp_path: Path, changes: dict[str, dict[str, Any]], said: str
) -> None:
    done = train(write(tmp_path, data, "refused", **changes))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not (tmp_path / "refused").exists()


def test_problems_of_one_shape_can_share_a_batch(data: Path) -> None:
    mixed = {"tasks": [TASKS[0], TASKS[1]], "balance": {"batches": "mixed", "by": "size"}, "root": str(data)}
    stage = {"epochs": 1, "batch_size": 8, "lr": 0.003, "accumulate": 2}
    found = []
    for nproc in (1, 2):
        name = f"mixed{nproc}"
        stages = {"autoencoder": stage, "operator": stage}
        done = train(write(data.parent, data, name, data=mixed, operator={"dropout": 0.0}, stages=stages), nproc)
        assert done.returncode == 0, done.stderr
        found.append([row["validation_nrmse"] for row in epochs(data.parent / name)])
    assert found[1] == pytest.approx(found[0], rel=1e-4)
