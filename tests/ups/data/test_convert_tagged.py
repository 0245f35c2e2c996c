"""Files from elsewhere carry tags of devices: what is only a tag is read, what cannot be read is a sentence."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from test_cache_guard import tag

from ups import checkpoint
from ups.data.convert import ConvertOptions, convert
from ups.errors import DataError

FIELDS = {"x": torch.rand(3, 8, 8), "y": torch.rand(3, 8, 8)}


@pytest.mark.parametrize("location", ["cpu", "cuda:3", "mps", "xpu:1"])
def test_a_tag_of_a_device_that_is_not_here_changes_no_number(tmp_path: Path, location: str) -> None:
    source = tag(FIELDS, location, tmp_path / "train.pt")
    made = convert([source], "darcy2d", tmp_path, ConvertOptions())
    with h5py.File(made) as file:
        assert np.array_equal(file["tensor"][:, 0], FIELDS["y"].numpy())


def test_parameters_are_read_as_numbers(tmp_path: Path) -> None:
    torch.save({name: torch.nn.Parameter(value) for name, value in FIELDS.items()}, tmp_path / "train.pt")
    assert convert([tmp_path / "train.pt"], "darcy2d", tmp_path, ConvertOptions()).exists()


@pytest.mark.parametrize(
    "odd",
    [torch.empty(3, 8, 8, device="meta"), torch.ones(3, 8, 8).to_sparse(), torch.ones(3, 8, 8, dtype=torch.bfloat16)],
    ids=["meta", "sparse", "bfloat16"],
)
def test_a_tensor_without_plain_numbers_is_refused_in_one_sentence(tmp_path: Path, odd: torch.Tensor) -> None:
    torch.save(FIELDS | {"y": odd}, tmp_path / "train.pt")
    with pytest.raises(DataError, match=r"train\.pt (holds a tensor that cannot become an array|cannot be read as)"):
        convert([tmp_path / "train.pt"], "darcy2d", tmp_path, ConvertOptions())


def test_a_checkpoint_with_tags_of_a_gpu_resumes_without_it(tmp_path: Path) -> None:
    content = {"kind": "last", "format": checkpoint.FORMAT, "model": {"w": torch.arange(4.0)}}
    path = tag(content, "cuda:7", tmp_path / "last.pt")
    weights = checkpoint.load(path, "last")["model"]["w"]
    assert (weights.device.type, weights.tolist()) == ("cpu", [0.0, 1.0, 2.0, 3.0])
