"""Every stage trained by the command line on two ranks, stopped and gone on with, evaluated and predicted from."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
import torch
from evaluated_run import write_darcy
from small_run import launch, ups, write_config, write_data

from ups.checkpoint import load_best
from ups.config import load_config

STAGE = {"epochs": 1, "batch_size": 8, "lr": 0.003}
FOUR = ("autoencoder", "operator", "diffusion", "consistency")
QUIET = ("--no-preflight", "--no-doctor", "--quiet", "--nproc", "1")


def configured(folder, run=FOUR, **changes):
    stages = {"run": list(run), **{name: dict(STAGE) for name in run}}
    return write_config(folder, stages=stages, diffusion={"members": 2, "steps": 2}, **changes)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("four")
    write_data(folder)
    config = configured(folder)
    done = ups("train", config, *QUIET)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steady")
    write_darcy(folder / "2D_DarcyFlow_beta1.0_Train.hdf5")
    run = ("autoencoder", "operator", "steady")
    data = {"task": "darcy2d", "parameter": 1.0, "root": str(folder)}
    small = {"hidden_dim": 8, "levels": 2, "cycles": 2}
    config = configured(folder, run, data=data, steady=small)
    done = ups("train", config, *QUIET)
    assert done.returncode == 0, done.stderr
    return folder


def epochs(folder, stage):
    lines = map(json.loads, (folder / "run" / "metrics.jsonl").read_text().splitlines())
    return [one for one in lines if one["kind"] == "epoch" and one["stage"] == stage]


def test_each_stage_leaves_a_checkpoint_and_says_what_it_came_to_in_physical_units(trained):
    path = trained / "run" / "checkpoints"
    assert {one.name for one in path.glob("*.pt")} == {"autoencoder.pt", "best.pt", "diffusion.pt", "consistency.pt"}
    best = load_best(path / "consistency.pt")
    assert (best.stage, sorted(best.later)) == ("consistency", ["consistency", "diffusion"])
    (found,) = epochs(trained, "consistency")
    names = ("teacher_nrmse", "apart", "operator_nrmse", "member_nrmse", "crps", "spread", "skill")
    assert all(np.isfinite(found[f"validation_{name}"]) for name in names)
    (diffusion,) = epochs(trained, "diffusion")
    assert diffusion["validation_operator_nrmse"] == pytest.approx(epochs(trained, "operator")[0]["validation_nrmse"])


def test_a_steady_run_says_what_the_equation_leaves_over(steady):
    (found,) = epochs(steady, "steady")
    assert {"validation_residual", "validation_data_residual"} <= found.keys()
    assert load_best(steady / "run/checkpoints/steady.pt").stage == "steady"


def test_an_evaluation_has_a_row_for_each_stage_beside_the_operator_alone(trained, steady, tmp_path):
    done = ups("evaluate", trained / "run/checkpoints/consistency.pt", "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    rows = ["model", "diffusion", "diffusion_ensemble", "consistency", "consistency_ensemble", "persistence"]
    assert list(numbers["one_step"]) == [*rows, "autoencoder"]
    assert [name for name in numbers["rollout"] if name in rows] == rows
    assert sum(numbers["ensembles"]["consistency, rollout"]["rank_histogram"]) == pytest.approx(1)
    assert (tmp_path / "plots" / "ensembles.png").exists()
    done = ups("evaluate", steady / "run/checkpoints/steady.pt", "--json", "--out", tmp_path / "steady")
    assert list(json.loads(done.stdout)["one_step"]) == ["model", "steady", "mean_field", "autoencoder"]


def test_a_later_stage_alone_needs_those_before_it_and_comes_to_what_the_whole_run_came_to(trained, tmp_path):
    write_data(tmp_path)
    config = configured(tmp_path)
    refused = ups("train", config, *QUIET, "--stage", "consistency")
    assert refused.returncode == 2
    assert "stage consistency needs the trained autoencoder" in refused.stderr
    for stage in FOUR:
        done = ups("train", config, *QUIET, "--stage", stage)
        assert done.returncode == 0, (stage, done.stderr)
    whole, parts = (
        torch.load(folder / "run/checkpoints/consistency.pt", weights_only=True)["later"]
        for folder in (trained, tmp_path)
    )
    for stage, state in whole.items():
        assert all(torch.equal(value, parts[stage][name]) for name, value in state.items()), stage


def test_a_steady_stage_is_refused_for_what_goes_on_in_time(tmp_path):
    write_data(tmp_path)
    refused = ups("train", configured(tmp_path, (*FOUR[:2], "steady")), *QUIET)
    assert (refused.returncode, refused.stderr.splitlines()) == (
        2,
        [
            "error: stage steady solves steady problems, and advection1d goes on in time",
            "  leave steady out of stages.run",
        ],
    )


@pytest.mark.parametrize(
    ("options", "stage", "spread"),
    [((), "operator", False), (("--correct",), "consistency", False), (("--members", "3"), "consistency", True),
     (("--best-of", "3"), "consistency", False)],
)  # fmt: skip
def test_predictions_have_pdebenchs_layout(trained, tmp_path, options, stage, spread):
    data = trained / "1D_Advection_Sols_beta0.4.hdf5"
    out = tmp_path / "out.h5"
    done = ups("predict", trained / "run/checkpoints/consistency.pt", data, "--out", out, "--samples", "2", *options)
    assert done.returncode == 0, done.stderr
    with h5py.File(data) as truth, h5py.File(out) as made:
        assert made["tensor"].shape == (2, *truth["tensor"].shape[1:])
        assert np.array_equal(made["tensor"][:, 0], truth["tensor"][:2, 0])
        assert made["t-coordinate"][...] == pytest.approx(truth["t-coordinate"][...])
        assert made.attrs["beta"] == pytest.approx(0.4)
        assert json.loads(made.attrs["ups_prediction"])["stage"] == stage
        assert ("spread" in made) is spread
        assert not spread or (made["spread"][:, 1:] > 0).any()
    assert {path.name for path in tmp_path.iterdir()} == {"out.h5", "out.png", "out.gif"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--members", "2", "--best-of", "2"), "error: --members gives the mean of all draws, --best-of one of them"),
        (("--members", "1"), "error: --members 1: two draws are the least"),
        (("--samples", "0"), "error: --samples 0: one sample is the least"),
    ],
)
def test_a_prediction_that_cannot_be_is_refused_in_one_sentence(trained, tmp_path, options, said):
    data, checkpoint = trained / "1D_Advection_Sols_beta0.4.hdf5", trained / "run/checkpoints/consistency.pt"
    done = ups("predict", checkpoint, data, "--out", tmp_path / "o.h5", "--no-pictures", *options)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, said)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_without_a_correction_cannot_draw(trained, tmp_path):
    data, checkpoint = trained / "1D_Advection_Sols_beta0.4.hdf5", trained / "run/checkpoints/best.pt"
    done = ups("predict", checkpoint, data, "--out", tmp_path / "o.h5", "--correct")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith("holds no diffusion and no consistency model, which --correct needs")


def test_two_ranks_train_the_later_stages_as_one_does_replicated_and_sharded(trained, steady, tmp_path):
    from pathlib import Path

    from modes_rank import ALONE
    from modes_rank import trained as train_in_mode

    program = Path(__file__).parents[1] / "modes_rank.py"
    for folder, stages in ((trained, ["diffusion", "consistency"]), (steady, ["steady"])):
        config, mode = folder / "small.yaml", {"stages": stages}
        alone = train_in_mode(load_config(config), ALONE, {"strategy": "none", **mode})
        file = tmp_path / "found.json"
        modes = {"ddp": mode, "fsdp2": {"strategy": "fsdp2", **mode}, "pieces": {"micro_batch": 3, **mode}}
        ended = launch(program, file, config, json.dumps(modes), nproc=2)
        assert {one.exit_code for one in ended.ended} == {0}, ended
        found = json.loads(file.read_text())
        for name in modes:
            for stage in stages:
                assert found[name][stage] == pytest.approx(alone[stage], rel=1e-5), (name, stage)
                assert found[name][f"{stage} alike"], (name, stage)


def test_several_checkpoints_are_compared_on_the_same_samples_best_first(trained, steady, tmp_path):
    files = [trained / "run/checkpoints" / name for name in ("best.pt", "diffusion.pt")]
    done = ups("evaluate", *files, "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["name"] for row in rows} == {
        "best", "persistence", *(f"diffusion: {one}" for one in ("operator alone", "diffusion", "diffusion, ensemble"))
    }  # fmt: skip
    errors = [row["nRMSE"] for row in rows]
    assert errors == sorted(errors)
    by_name = {row["name"]: row["nRMSE"] for row in rows}
    assert by_name["best"] == by_name["diffusion: operator alone"]
    assert {path.name for path in tmp_path.iterdir()} == {"comparison.json", "comparison.png"}
    other = ups("evaluate", files[0], steady / "run/checkpoints/steady.pt", "--out", tmp_path / "x")
    assert other.returncode == 2
    assert "cannot be compared: task is darcy2d and advection1d" in other.stderr


def test_a_later_stage_that_was_stopped_goes_on_to_the_same_weights(trained, tmp_path):
    write_data(tmp_path)
    config = configured(tmp_path)
    for stage in FOUR[:3]:
        assert ups("train", config, *QUIET, "--stage", stage).returncode == 0
    stopped = ups("train", config, *QUIET, "--stage", "consistency", "--set", "stages.consistency.max_steps=1")
    assert stopped.returncode == 0, stopped.stderr
    done = ups("train", config, *QUIET, "--stage", "consistency", "--resume")
    assert done.returncode == 0, done.stderr
    files = (folder / "run/checkpoints/consistency.pt" for folder in (trained, tmp_path))
    whole, resumed = (torch.load(path, weights_only=True)["later"]["consistency"] for path in files)
    assert all(torch.equal(value, resumed[name]) for name, value in whole.items())
