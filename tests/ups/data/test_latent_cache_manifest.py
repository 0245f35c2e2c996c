"""The latent cache: what it holds is what the encoder gives, and a cache of something else is refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import write_config, write_data

from ups.cache_build import ensure_cache
from ups.config import UpsConfig, load_config
from ups.data.cache_layouts import LAYOUTS
from ups.data.latent_cache import LatentPairDataset
from ups.distributed import alone
from ups.errors import DataError
from ups.stages import autoencoder, operator
from ups.stages import material as materials

CPU = torch.device("cpu")


class Made:
    """One configuration's data, an encoder, and the cache built from both."""

    def __init__(self, folder: Path) -> None:
        write_data(folder)
        self.config: UpsConfig = load_config(write_config(folder))
        self.material = materials.alone(self.config)
        torch.manual_seed(0)
        stage = autoencoder.Stage(self.config, CPU, self.material)
        self.state: dict[str, Any] = stage.finish(stage.build())["autoencoder"]
        self.folder = self.config.cache_dir

    def ensure(self, *, rebuild: bool = False, state: dict[str, Any] | None = None) -> str:
        return ensure_cache(self.config, self.material, state or self.state, alone(), rebuild=rebuild)

    def configure(self, **cache: str) -> None:
        self.config = replace(self.config, cache=replace(self.config.cache, **cache))

    def other_state(self) -> dict[str, Any]:
        name, *_ = self.state
        return self.state | {name: self.state[name] + 1}


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_cached_pairs_equal_those_encoded_on_the_fly_in_the_same_order(made: Made) -> None:
    made.ensure()
    cached = operator.Stage(made.config, CPU, made.material, trained={"autoencoder": made.state}, cached=True)
    fresh = operator.Stage(made.config, CPU, made.material, trained={"autoencoder": made.state})
    one, other = cached.train_dataset, fresh.train_dataset
    assert len(one) == len(other) == 24  # type: ignore[arg-type]
    for index in range(24):
        kept, read = one[index], other[index]
        z_in, z_out = fresh.encoder.pair({"u_in": read["u_in"][None], "u_out": read["u_out"][None]})
        torch.testing.assert_close(kept["z_in"], z_in[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(kept["z_out"], z_out[0], rtol=1e-5, atol=1e-5)
        assert torch.equal(kept["cond"], read["cond"])
        assert (kept["sample"], kept["frame"]) == (read["sample"], read["frame"])


def test_a_cache_that_fits_is_reused_untouched(made: Made) -> None:
    assert made.ensure() == "built"
    before = {path: path.stat().st_mtime_ns for path in made.folder.iterdir()}
    assert made.ensure() == "reused"
    assert {path: path.stat().st_mtime_ns for path in made.folder.iterdir()} == before


def test_a_cache_of_another_encoder_is_refused_and_rebuilt_on_request(made: Made) -> None:
    made.ensure()
    with pytest.raises(DataError) as refused:
        made.ensure(state=made.other_state())
    assert "belongs to another configuration: encoder is " in refused.value.message
    assert refused.value.hint == "ups cache build CONFIG --rebuild"
    assert made.ensure(state=made.other_state(), rebuild=True) == "built"
    assert made.ensure(state=made.other_state()) == "reused"


def test_each_difference_is_named(made: Made) -> None:
    made.ensure()
    path = made.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dtype": "float16", "time_stride": 2}))
    with pytest.raises(DataError, match='time_stride is 2, 1 is needed; dtype is "float16", "float32" is needed'):
        made.ensure()


def test_a_truncated_array_is_refused_by_name(made: Made) -> None:
    made.ensure()
    path = made.folder / "train_u.npy"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(DataError, match=r"is damaged: train_u\.npy has \d+ bytes, not \d+"):
        LatentPairDataset(made.folder, "train", made.material.spec)


def test_a_dataset_goes_to_a_worker_without_its_open_arrays(made: Made) -> None:
    made.ensure()
    dataset = LatentPairDataset(made.folder, "train", made.material.spec)
    first = dataset[0]["z_in"]
    assert len(pickle.dumps(dataset)) < 10_000
    assert torch.equal(pickle.loads(pickle.dumps(dataset))[0]["z_in"], first)  # noqa: S301


def test_a_folder_with_something_else_in_it_is_never_removed(made: Made) -> None:
    made.folder.mkdir(parents=True)
    (made.folder / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="holds no latent cache"):
        made.ensure()
    with pytest.raises(Exception, match="cannot write the latent cache"):
        made.ensure(rebuild=True)
    assert (made.folder / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_layout_gives_the_same_batches_and_is_read_under_any_setting(made: Made, layout: str, dtype: str) -> None:
    indices = [23, 0, 7, 7, 12]
    made.configure(dtype=dtype)
    made.ensure()
    usual = LatentPairDataset(made.folder, "train", made.material.spec).batch(indices)
    made.configure(layout=layout)
    assert made.ensure(rebuild=True) == "built"
    made.configure(layout="npy")
    assert made.ensure() == "reused"
    dataset = LatentPairDataset(made.folder, "train", made.material.spec)
    assert dataset.layout == layout
    batch = dataset.batch(indices)
    assert batch["z_in"].dtype == getattr(torch, dtype)
    assert batch.keys() == usual.keys()
    assert all(torch.equal(batch[name], usual[name]) for name in usual)


def test_a_cache_of_the_first_format_is_read(made: Made) -> None:
    made.ensure()
    path = made.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["layout"]
    shapes = {f"{name}.npy": shape for name, shape in manifest["shapes"].items()}
    path.write_text(json.dumps(manifest | {"format": 1, "shapes": shapes}))
    assert made.ensure() == "reused"
    assert LatentPairDataset(made.folder, "train", made.material.spec).layout == "npy"
