"""Checkpoints are whole or not there, and say what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from small_run import write_config, write_data

from ups import checkpoint
from ups.config import load_config
from ups.errors import DataError
from ups.models import build_operator
from ups.stages import material as materials


def saved_best(folder: Path) -> Path:
    write_data(folder)
    config = load_config(write_config(folder))
    material = materials.alone(config)
    autoencoder = checkpoint.build_autoencoder(config, material.spec)
    operator = build_operator(config.operator, latent_dim=8, token_grid=autoencoder.token_grid, periodic=True)
    path = folder / "best.pt"
    content = checkpoint.header("best", config, material.spec, material.normalisation) | {
        "autoencoder": autoencoder.state_dict(),
        "operator": operator.state_dict(),
        "validation": 0.25,
        "epoch": 1,
        "step": 7,
    }
    assert checkpoint.save(path, content) == path.stat().st_size
    return path


def test_best_gives_back_config_spec_units_and_a_model_that_predicts(tmp_path: Path) -> None:
    best = checkpoint.load_best(saved_best(tmp_path))
    assert best.config == load_config(tmp_path / "small.yaml")
    assert (best.spec.grid, best.spec.fields, best.validation, best.epoch, best.step) == ((32,), ("u",), 0.25, 1, 7)
    surrogate = best.surrogate()
    with torch.no_grad():
        assert surrogate.step(torch.zeros(2, 32, 1), torch.zeros(2, 3)).shape == (2, 32, 1)
    assert not surrogate.training


def test_a_damaged_checkpoint_is_one_sentence(tmp_path: Path) -> None:
    path = saved_best(tmp_path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"best\.pt is damaged or no checkpoint"):
        checkpoint.load_best(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it is empty"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
            "it is a pointer of Git LFS, whose content was not fetched: git lfs pull",
        ),
    ],
)
def test_a_file_without_content_is_named_as_what_it_is(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "best.pt"
    path.write_text(content)
    with pytest.raises(Exception, match=f"is damaged or no checkpoint: {said}$"):
        checkpoint.load_best(path)


def test_another_kind_of_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds 'best', a checkpoint of kind 'last', format 1, is needed"):
        checkpoint.load(saved_best(tmp_path), "last")


def test_a_missing_checkpoint_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"cannot read the checkpoint .*/none\.pt: no such file or folder"):
        checkpoint.load(tmp_path / "none.pt", "best")


def test_a_write_that_is_refused_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    checkpoint.save(path, {"kind": "last", "format": 1})
    before = path.read_bytes()
    (tmp_path / "last.pt.tmp").mkdir()  # in the way of the new one
    with pytest.raises(Exception, match="cannot write the checkpoint"):
        checkpoint.save(path, {"kind": "last", "format": 1, "more": torch.zeros(9)})
    assert path.read_bytes() == before
