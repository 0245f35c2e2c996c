"""Runs of several problems stop, die, are watched, looked into and repaired as those of one are."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import h5py
import pytest
from small_run import clean_environment, newest, ranks_of, start, ups, wait_until
from three_problems import NAMES, differences, made_data, rows, train, write

DOCTOR = [sys.executable, "-c", "import sys; from diagnostics.cli import main; main()"]
FILES = {"advection1d": "1D_Adv*", "burgers1d": "1D_Bur*", "darcy2d": "2D_Dar*"}
SHAPES = {"advection1d": (2, 5, 32), "burgers1d": (2, 4, 32), "darcy2d": (2, 1, 8, 8)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_data(tmp_path_factory.mktemp("problems"))


@pytest.fixture(scope="module")
def on_two_ranks(data: Path) -> Path:
    done = train(write(data.parent, data, "whole"), 2)
    assert done.returncode == 0, done.stderr
    return data.parent / "whole"


def doctor(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [*DOCTOR, *map(str, words)]
    return subprocess.run(
        argv, cwd=cwd, env=clean_environment(), capture_output=True, text=True, timeout=240, check=False
    )


def has_checkpoint(folder: Path, stage: str) -> bool:
    found = newest(folder)
    return found is not None and found.name.startswith(stage)


def says(log: Path, text: str) -> bool:
    return text in log.read_text()


def test_two_ranks_that_stopped_in_mid_epoch_go_on_bit_by_bit(data: Path, on_two_ranks: Path) -> None:
    config = write(data.parent, data, "stopped")
    for stage, stop_at in (("autoencoder", 5), ("operator", 7)):
        more = ("--stage", "autoencoder") if stage == "autoencoder" else ("--resume",)
        done = train(config, 2, "--set", f"stages.{stage}.max_steps={stop_at}", *more)
        assert done.returncode == 0, done.stderr
        assert newest(data.parent / "stopped").name.endswith(f"{stop_at:08d}")
    done = train(config, 2, "--resume")
    assert done.returncode == 0, done.stderr
    assert differences(on_two_ranks, data.parent / "stopped") == []


def test_loader_workers_hand_over_the_same_batches(data: Path, on_two_ranks: Path) -> None:
    done = train(write(data.parent, data, "workers", training={"workers": 2}), 2)
    assert done.returncode == 0, done.stderr
    assert differences(on_two_ranks, data.parent / "workers") == []


def test_another_seed_is_another_run(data: Path, on_two_ranks: Path) -> None:
    """The failing twin of the comparison."""
    done = train(write(data.parent, data, "seeded"), 2, "--set", "seed=18")
    assert done.returncode == 0, done.stderr
    found = differences(on_two_ranks, data.parent / "seeded")
    assert any(name.startswith("/model/") for name in found)
    assert any(name.startswith("metrics ") for name in found)


def test_ranks_that_are_killed_start_again_and_come_to_the_same_model(data: Path, tmp_path: Path) -> None:
    """Killed in both stages, in the middle of an epoch; what follows each checkpoint is made once."""
    stage = {"epochs": 5, "batch_size": 8, "lr": 0.003}
    stages = {"autoencoder": stage, "operator": stage}
    training = {"log_every_steps": 1, "checkpoint_every_steps": 5}
    whole = write(tmp_path, data, "unharmed", stages=stages, training=training)
    assert train(whole, 2).returncode == 0
    config = write(tmp_path, data, "killed", stages=stages, training=training)
    log, mark = tmp_path / "log", f"several-{os.getpid()}"
    process = start(["train", config, "--nproc", "2", "--no-preflight", "--max-restarts", "2"], mark, log)
    for name, rank in (("autoencoder", 1), ("operator", 0)):
        wait_until(partial(has_checkpoint, tmp_path / "killed", name), deadline_s=180)
        os.kill(ranks_of(mark)[rank], signal.SIGKILL)
        wait_until(partial(says, log, f"rank {rank} was killed by signal 9"))
    assert process.wait(timeout=240) == 0, log.read_text()
    assert "restart 2 of 2, from operator-" in log.read_text()
    assert differences(tmp_path / "unharmed", tmp_path / "killed") == []
    steps = [(row["stage"], row["step"]) for row in rows(tmp_path / "killed") if row["kind"] == "step"]
    assert len(steps) == len(set(steps))


@pytest.mark.parametrize("name", NAMES)
def test_each_problem_is_predicted_into_a_file_of_its_own_layout(
    data: Path, on_two_ranks: Path, name: str, tmp_path: Path
) -> None:
    best, source = on_two_ranks / "run/checkpoints/best.pt", next(data.glob(FILES[name]))
    out = tmp_path / "out.h5"
    done = ups("predict", best, source, "--task", name, "--samples", "2", "--out", out)
    assert done.returncode == 0, done.stderr
    with h5py.File(out) as made, h5py.File(source) as given:
        assert made["tensor"].shape == SHAPES[name]
        first = "nu" if name == "darcy2d" else "tensor"
        assert abs(made[first][:, :1] - given[first][:2, :1]).max() < 1e-6
    again = ups("evaluate", best, "--data", out, "--task", name, "--split", "all", "--out", tmp_path / "e", "--json")
    assert again.returncode == 0, again.stderr
    part = "one_step" if name == "darcy2d" else "rollout"
    assert json.loads(again.stdout)[part]["model"]["nRMSE"] < 1e-5  # the model agrees with itself


def test_the_predictions_of_one_problem_are_not_asked_of_anothers_file(data: Path, on_two_ranks: Path) -> None:
    best = on_two_ranks / "run/checkpoints/best.pt"
    done = ups("predict", best, next(data.glob("1D_Bur*")), "--task", "darcy2d", "--out", data.parent / "no.h5")
    assert (done.returncode, "which darcy2d needs" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert not (data.parent / "no.h5").exists()


def test_damaged_caches_of_several_problems_are_made_again_by_either_command(
    on_two_ranks: Path, tmp_path: Path
) -> None:
    config, cache = on_two_ranks.with_suffix(".yaml"), on_two_ranks / "run/cache"
    kept = {path: path.read_bytes() for path in cache.rglob("*.npy")}
    cut, gone = cache / "burgers1d/train_u.npy", cache / "darcy2d/validation_u.npy"

    def damage() -> None:
        os.truncate(cut, 300)
        gone.unlink()

    damage()
    plan = ups("cache", "repair", config, "--dry-run")
    told = [line.split(f"{cache}/")[1] for line in plan.stdout.splitlines() if f"{cache}/" in line]
    assert (plan.returncode, told) == (
        1,
        [
            "advection1d are as the manifest says",
            "burgers1d are made again: train_u.npy",
            "darcy2d are made again: validation_u.npy",
        ],
    )
    one = ups("cache", "repair", config, "--task", "burgers1d")
    assert (one.returncode, cut.read_bytes() == kept[cut], gone.exists()) == (0, True, False)
    assert ups("cache", "repair", config).returncode == 0
    assert {path: path.read_bytes() for path in cache.rglob("*.npy")} == kept

    damage()
    where = ("--report-dir", tmp_path)
    part = doctor("fix-cache", cache / "darcy2d", "--regenerate", config, "--yes", *where, cwd=tmp_path)
    assert (part.returncode, gone.read_bytes() == kept[gone], cut.stat().st_size) == (0, True, 300), part.stderr
    rest = doctor("fix-cache", cache, "--regenerate", config, "--yes", *where, cwd=tmp_path)
    assert rest.returncode == 0, rest.stderr
    assert "1 made again" in rest.stdout
    assert {path: path.read_bytes() for path in cache.rglob("*.npy")} == kept
    other = doctor("fix-cache", tmp_path, "--regenerate", config, "--yes", *where, cwd=tmp_path)
    assert (other.returncode, "which was not named" in other.stderr) == (2, True)


def test_numbers_of_samples_are_those_of_one_problem(on_two_ranks: Path) -> None:
    done = ups("cache", "repair", on_two_ranks.with_suffix(".yaml"), "--samples", "1")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "  name one with --task")


def test_the_doctor_proves_that_two_ranks_compute_what_one_does(on_two_ranks: Path, tmp_path: Path) -> None:
    config = on_two_ranks.with_suffix(".yaml")
    done = doctor("parity", config, "--report-dir", tmp_path, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("2 ranks compute what one process computes: largest relative difference") == 2
    assert len(re.findall(r"tasks\.(?:advection1d|burgers1d|darcy2d)\.", done.stdout)) > 2


def test_the_doctor_looks_into_all_models_with_data_and_without(on_two_ranks: Path, tmp_path: Path) -> None:
    config = on_two_ranks.with_suffix(".yaml")
    for more, source in (((), ""), (("--set", f"data.root={tmp_path}"), "synthetic batches: there is no data file")):
        done = doctor("inspect", config, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        assert "2 models" in done.stdout + done.stderr
        assert source in done.stdout + done.stderr


def test_a_pipeline_says_that_it_is_about_one_problem(on_two_ranks: Path, tmp_path: Path) -> None:
    config = tmp_path / "several.yaml"
    shutil.copyfile(on_two_ranks.with_suffix(".yaml"), config)
    done = ups("pipeline", config, "--set", f"output.dir={tmp_path}/out")
    assert done.returncode == 2
    assert "a pipeline is about one problem, and data.tasks names several" in done.stderr
