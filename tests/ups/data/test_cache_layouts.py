"""Every layout gives back what was written, from files made in full size before, and refuses damaged ones."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ups.data.cache_folder import is_ours
from ups.data.cache_layouts import LAYOUTS, Array, shards
from ups.errors import DataError

EVERY = pytest.mark.parametrize("name", LAYOUTS)
SHAPE = (7, 3, 5, 4)  # 7 samples of 3 frames
POSITION_B = np.asarray([6, 0, 3, 3, 2])
FRAME_KB = np.asarray([[0, 1, 1, 0, 1], [1, 2, 2, 1, 2]])


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 2 * 3 * 5 * 4 * 4)


def values(dtype: str) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(dtype)


def made(folder: Path, name: str, dtype: str = "float32") -> Array:
    """Writes an array as a run does: room first, then sample by sample, in any order."""
    layout, array = LAYOUTS[name], Array(name="train_u", shape=SHAPE, dtype=dtype)
    for file, size in layout.files(array).items():
        (folder / file).write_bytes(bytes(size))
    layout.begin(folder, array)
    for position in (4, 0, 6, 1, 5, 3, 2):
        layout.write(folder, array, position, values("float32")[position])
    return array


@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_what_is_written_is_read_in_any_order(name: str, dtype: str, tmp_path: Path) -> None:
    array = made(tmp_path, name, dtype)
    taken = LAYOUTS[name].open(tmp_path, array).take(POSITION_B, FRAME_KB)
    assert taken.dtype == getattr(torch, dtype)
    assert taken.is_contiguous()
    np.testing.assert_array_equal(taken.numpy(), values("float32").astype(dtype)[POSITION_B, FRAME_KB])


@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_files_have_the_size_that_was_reserved_and_names_that_are_ours(name: str, dtype: str, tmp_path: Path) -> None:
    array = made(tmp_path, name, dtype)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes == LAYOUTS[name].files(array)
    assert all(is_ours(file) for file in sizes)


@EVERY
def test_a_damaged_file_is_refused_by_name(name: str, tmp_path: Path) -> None:
    array = made(tmp_path, name)
    victim = next(path for path in sorted(tmp_path.iterdir(), reverse=True) if not path.name.endswith(".json"))
    victim.write_bytes(victim.read_bytes()[:50])
    with pytest.raises(DataError, match=f"^the latent cache is damaged: {victim}: "):
        LAYOUTS[name].open(tmp_path, array).take(np.arange(7), np.zeros((1, 7), dtype=int))


@EVERY
def test_an_array_of_another_shape_is_refused(name: str, tmp_path: Path) -> None:
    made(tmp_path, name)
    other = Array(name="train_u", shape=(6, 3, 20, 1), dtype="float32")
    with pytest.raises(DataError, match=r"^the latent cache is damaged: "):
        LAYOUTS[name].open(tmp_path, other).take(np.asarray([2]), np.zeros((1, 1), dtype=int))


def test_other_programs_read_the_files(tmp_path: Path) -> None:
    made(tmp_path, "npy")
    np.testing.assert_array_equal(np.load(tmp_path / "train_u.npy"), values("float32"))
    made(tmp_path, "pt")
    one: Any = torch.load(tmp_path / "train_u_00004.pt", weights_only=True)
    np.testing.assert_array_equal(one["latents"].numpy(), values("float32")[4])
    made(tmp_path, "shards")
    np.testing.assert_array_equal(
        np.fromfile(tmp_path / "train_u_00003.shard", np.float32), values("float32")[6].ravel()
    )


def test_the_safetensors_library_reads_the_file(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
    made(tmp_path, "safetensors")
    np.testing.assert_array_equal(library.load_file(tmp_path / "train_u.safetensors")["train_u"], values("float32"))


def test_a_sample_file_with_a_device_in_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = made(tmp_path, "pt")
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:3")
    buffer = io.BytesIO()
    torch.save({"latents": torch.zeros(SHAPE[1:])}, buffer)
    (tmp_path / "train_u_00002.pt").write_bytes(buffer.getvalue())
    source = LAYOUTS["pt"].open(tmp_path, array)
    assert source.take(np.asarray([1]), np.zeros((1, 1), dtype=int)).shape == (1, 1, 5, 4)
    with pytest.raises(DataError, match=r"train_u_00002\.pt: "):
        source.take(np.asarray([2]), np.zeros((1, 1), dtype=int))


def test_a_sample_file_that_would_run_code_is_refused(tmp_path: Path) -> None:
    array = made(tmp_path, "pt")
    torch.save({"latents": Path("/")}, tmp_path / "train_u_00002.pt")
    with pytest.raises(DataError, match="it holds something else than tensors in plain containers"):
        LAYOUTS["pt"].open(tmp_path, array).take(np.asarray([2]), np.zeros((1, 1), dtype=int))
