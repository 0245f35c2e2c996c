"""What the operator is trained on: pairs of frames, rollouts, and each term against a case whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from evaluated_run import write_darcy
from modes_rank import ALONE, trained
from small_run import launch, ups, write_config, write_data
from torch import nn

from ups.config import LatentConfig, ObjectiveConfig, load_config
from ups.data.datasets import PairDataset
from ups.data.fields import FieldReader, open_spec
from ups.data.latent_cache import LatentPairDataset
from ups.data.normalisation import Normalisation
from ups.data.pairing import Pairing
from ups.losses import mse
from ups.models.autoencoder import FieldAutoencoder
from ups.objective.fine_structure import fine_structure_error
from ups.objective.horizon import Horizon
from ups.objective.inverse_error import inverse_error
from ups.objective.rollout import rollout_error

PROGRAM = Path(__file__).parents[1] / "modes_rank.py"
EVERYTHING = {
    "longest_lead": 2, "rollout": 2, "rollout_from": 0.2, "decoded": 0.5, "spectral": 0.1, "inverse": 0.1,
}  # fmt: skip
QUIET = ("--no-preflight", "--no-doctor", "--quiet", "--nproc", "1")


def test_all_pairs_are_there_once_and_those_of_one_frame_to_the_next_come_first() -> None:
    pairing = Pairing(5, 4)
    pairs = [tuple(row) for row in pairing.places(np.arange(len(pairing)))]
    assert pairs[:4] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert sorted(pairs) == [(i, j) for i in range(5) for j in range(i + 1, 5)]


def test_later_steps_keep_the_lead_and_those_beyond_the_data_are_marked() -> None:
    pairing = Pairing(6, 2, 2)
    items = np.array([0, 3, 5, 6])  # leads 1, 1, 2, 2 from frames 0, 3, 0, 1
    assert pairing.places(items).tolist() == [[0, 1, 2, 3], [3, 4, 5, 5], [0, 2, 4, 5], [1, 3, 5, 5]]
    assert pairing.known(items).tolist() == [[True, True], [True, False], [True, False], [True, False]]
    times = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert pairing.conditions(times, -2.0, items)[1] == pytest.approx(
        np.array([[0.1, 0.3, -2], [0.1, 0.4, -2], [0.1, 0.5, -2]])
    )


def test_pairs_read_from_the_file_are_the_frames_themselves(tmp_path: Path) -> None:
    spec = open_spec(write_data(tmp_path, frames=5), task="advection1d")
    reader = FieldReader(spec)
    pairs = PairDataset(reader, np.array([2]), Normalisation(mean={"u": (0.0,)}, std={"u": (2.0,)}), Pairing(5, 2, 1))
    frames = torch.from_numpy(reader.frames(2, 0, 5)) / 2
    assert len(pairs) == 7
    item = pairs[5]  # lead 2 from frame 1
    assert (item["sample"], item["frame"], item["known"].tolist()) == (2, 1, [False])
    assert torch.equal(torch.stack([item["u_in"], item["u_out"]]), frames[[1, 3]])
    assert torch.equal(pairs[4]["u_later"], frames[[4]])
    assert item["cond"].tolist() == pytest.approx([0.1, 0.05, np.log10(0.4)])


def test_the_horizon_begins_with_one_step_and_grows_step_by_step_to_the_whole() -> None:
    horizon = Horizon(ObjectiveConfig(rollout=3, rollout_from=0.5, inverse=0.4, inverse_warmup=0.5), 120)
    assert [horizon.rollout(step) for step in (0, 59, 60, 69, 70, 80, 119)] == [0, 0, 1, 1, 2, 3, 3]
    assert [horizon.inverse(step) for step in (0, 30, 60, 119)] == pytest.approx([0, 0.2, 0.4, 0.4])


def waves(*numbers: int) -> torch.Tensor:
    x = torch.arange(64) / 64
    return torch.stack([torch.sin(2 * np.pi * number * x) for number in numbers]).sum(0)[None, :, None]


def test_an_error_in_a_short_wave_costs_its_wave_number_more_than_the_same_in_a_long_one() -> None:
    true = waves(2)
    short, long = (float(fine_structure_error(true + 0.1 * waves(number), true)) for number in (16, 1))
    assert (short, long) == pytest.approx((0.1 * 16 / 2, 0.1 * 1 / 2), rel=1e-4)
    true_2d, axis = true[:, :, None].expand(1, 64, 64, 1), waves(16)[:, None].expand(1, 64, 64, 1)
    assert float(fine_structure_error(true_2d + 0.1 * axis, true_2d)) == pytest.approx(0.1 * 16 / 2, rel=1e-4)


def test_latents_that_the_encoder_would_have_made_come_back_and_others_do_not() -> None:
    config = LatentConfig(dim=6, patch=4, hidden_dim=16, depth=1, num_heads=2, exact=True)
    model = FieldAutoencoder(config, grid=(32,), channels=1, fields=("u",), periodic=True)
    z = model.encode(torch.randn(2, 32, 1))
    off = z + torch.tensor([0.0, 0, 0, 0, 1, 1])  # beside the cells, where the decoder does not look
    assert inverse_error(model, z, z, 0).max() < 1e-5
    assert inverse_error(model, off, off, 0).min() > 0.1


class Times(nn.Module):
    """z becomes w z: three steps from 1 are w, w^2, w^3."""

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight))

    def forward(self, z: torch.Tensor, _cond: torch.Tensor) -> torch.Tensor:
        return self.weight * z


@pytest.mark.parametrize("push_forward", [False, True])
def test_a_rollout_is_held_to_each_known_step_and_its_gradient_ends_where_it_is_to_end(push_forward: bool) -> None:
    operator, weight = Times(1.5), 1.5
    z = torch.ones(2, 1, 1)
    later, known = torch.full((2, 2, 1, 1), 3.0), torch.tensor([[True, True], [True, False]])
    later[1, 1] = torch.inf  # there is no truth: what stands there must not matter
    first = operator(z, z)
    found = rollout_error(
        operator, (first, mse(first, 2 * z)), later, torch.zeros(2, 2, 3), known, mse, push_forward=push_forward
    )
    errors = [(weight - 2) ** 2, (weight**2 - 3) ** 2, (weight**3 - 3) ** 2]
    assert found.tolist() == pytest.approx([sum(errors) / 3, sum(errors[:2]) / 2])
    found[0].backward()
    through = [1, 2 * weight, 3 * weight**2]  # d w^n / d w
    detached = [1, weight, weight**2]  # the input of each step is a number
    slopes = detached if push_forward else through
    residuals = [2 * (weight - 2), 2 * (weight**2 - 3), 2 * (weight**3 - 3)]
    expected = sum(r * s for r, s in zip(residuals, slopes, strict=True)) / 3
    assert float(operator.weight.grad) == pytest.approx(expected)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objective")
    write_data(folder, frames=6)
    stage = {"epochs": 2, "batch_size": 13, "lr": 0.01}
    return write_config(folder, stages={"autoencoder": stage, "operator": stage}, objective=EVERYTHING)


@pytest.mark.parametrize("push_forward", [False, True])
def test_two_ranks_and_micro_batches_come_to_what_one_rank_comes_to(everything: Path, push_forward: bool) -> None:
    config = everything.with_name(f"push_forward_{push_forward}.yaml")
    config.write_text(everything.read_text().replace("objective:", f"objective:\n  push_forward: {push_forward}"))
    alone = trained(load_config(config), ALONE, {"strategy": "none"})
    file = config.with_name("found.json")
    modes = {"ddp": {}, "pieces": {"micro_batch": 3}}
    ended = launch(PROGRAM, file, config, json.dumps(modes), nproc=2)
    assert {one.exit_code for one in ended.ended} == {0}, ended
    for name, found in json.loads(file.read_text()).items():
        assert found["operator"] == pytest.approx(alone["operator"], rel=1e-5), name
        assert found["operator alike"], name


def test_every_term_takes_part(everything: Path) -> None:
    whole = trained(load_config(everything), ALONE, {"strategy": "none"})["operator"]
    for key in EVERYTHING.keys() - {"rollout_from"}:
        value = 1 if key == "longest_lead" else 0
        without = trained(load_config(everything, [f"objective.{key}={value}"]), ALONE, {"strategy": "none"})
        assert abs(without["operator"] / whole - 1) > 1e-6, key


def test_latents_of_the_cache_are_those_of_the_fields_in_later_steps_too(everything: Path) -> None:
    done = ups("train", everything, *QUIET)
    assert done.returncode == 0, done.stderr
    config = load_config(everything)
    from ups.checkpoint import load_best
    from ups.data.splits import split_samples

    best = load_best(everything.parent / "run/checkpoints/best.pt")
    samples = split_samples(best.spec.samples, config.data).train
    pairing = Pairing(best.spec.frames, 2, 2)
    fields = PairDataset(FieldReader(best.spec), samples, best.normalisation, pairing)
    latents = LatentPairDataset(config.cache_dir, "train", best.spec, pairing)
    assert len(fields) == len(latents)
    encode = best.surrogate().autoencoder.encode
    for number in (0, 4, 5, len(fields) - 1):
        one, other = fields[number], latents[number]
        assert torch.allclose(encode(one["u_later"]), other["z_later"], atol=1e-5)
        assert torch.allclose(encode(one["u_out"][None])[0], other["z_out"], atol=1e-5)
        assert all(torch.equal(one[key], other[key]) for key in ("cond", "cond_later", "known"))
        assert (one["sample"], one["frame"]) == (other["sample"], other["frame"])


def test_what_does_not_fit_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_data(tmp_path)
    refused = ups("train", write_config(tmp_path, objective={"longest_lead": 4}), *QUIET)
    assert (refused.returncode, refused.stderr.splitlines()) == (
        2,
        [
            "error: objective.longest_lead is 4, and the data has 4 frames",
            "  --set objective.longest_lead=3 takes all pairs",
        ],
    )
    sharded = ups(
        "train", write_config(tmp_path, objective={"rollout": 1}), *QUIET[:3], "--nproc", "2",
        "--set", "training.strategy=fsdp2",
    )  # fmt: skip
    assert sharded.returncode == 2
    assert sharded.stderr.startswith("error: objective.rollout calls the operator several times in a step, and fsdp2")
    assert not (tmp_path / "run").exists()
    write_darcy(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5")
    data = {"task": "darcy2d", "parameter": 1.0, "root": str(tmp_path)}
    steady = ups("train", write_config(tmp_path, data=data, objective={"rollout": 1}), *QUIET)
    assert steady.returncode == 2
    assert "are for what goes on in time, and darcy2d is steady" in steady.stderr
    assert not (tmp_path / "run").exists()
