"""Storages of which tensors use a part are cut to it; every tensor stays what it was."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.serialization import config

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.formats.torch_zip import repair
from diagnostics.cache.repair.apply import apply
from diagnostics.cache.scan.one_file import scan_file

Same = Callable[[Any, Any], bool]


def compact(path: Path) -> tuple[str, ...]:
    with FileBytes(str(path)) as file:
        patch = repair(file, compact=True)
    assert patch is not None
    assert apply(path, patch).way == "copy"
    with FileBytes(str(path)) as file:
        assert repair(file, compact=True) is None
    return patch.changes


def views() -> dict[str, Any]:
    base = torch.randn(300, 400)
    return {
        "head": base.view(-1)[:10],
        "overlaps": base.view(-1)[5:20],
        "turned": base.view(-1)[60_000:60_100].reshape(10, 10).t(),
        "row": base[200],
        "float8": torch.randn(100_000).to(torch.float8_e4m3fn)[101:110],
        "uint16": torch.arange(9000, dtype=torch.int32).to(torch.uint16)[7:9],
        "complex": torch.randn(9000, dtype=torch.complex64)[5:9],
        "expanded": torch.randn(9000)[5:6].expand(3, 1000),
        "number": torch.randn(9000)[17],
        "nothing": torch.randn(10_000)[:0],
        "whole": torch.randn(5000),
        "weight": torch.nn.Parameter(torch.randn(9000)[3:5]),
        "text": "cuda:0",
    }


@pytest.mark.parametrize("device", ["cuda:0", "cpu"])
def test_every_view_keeps_its_values_strides_and_partners(
    device: str, tmp_path: Path, tagged: Callable[..., None], same: Same, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "".join(device), views(), path)
    wanted, before = torch.load(path, map_location="cpu", weights_only=True), path.stat().st_size
    changes = compact(path)
    assert before > 800_000
    assert path.stat().st_size < 30_000
    assert [change for change in changes if "->" in change] == (["9 storages cuda:0 -> cpu"] if device != "cpu" else [])
    assert same(torch.load(path, weights_only=True), wanted)
    # Torch compares the offsets that it computes with those that it reads.
    monkeypatch.setenv("TORCH_SERIALIZATION_DEBUG", "1")
    with config.patch({"load.calculate_storage_offsets": True}):
        assert same(torch.load(path, weights_only=True, mmap=True), wanted)
    assert zipfile.ZipFile(path).testzip() is None
    assert scan_file(str(path)).problems == ()


def test_views_that_share_see_each_others_writes(tmp_path: Path) -> None:
    path = tmp_path / "sample.pt"
    torch.save(views(), path)
    compact(path)
    loaded = torch.load(path, weights_only=True)
    loaded["head"][7] = 5.0
    assert loaded["overlaps"][2] == 5.0
    assert loaded["row"].untyped_storage().data_ptr() == loaded["head"].untyped_storage().data_ptr()


def test_a_single_crop_is_packed_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "sample.pt"
    crops = {
        "rows": torch.randn(500, 600)[100:110, 7:20],
        "cube": torch.randn(20, 50, 60)[:, 10:20, 5:50:3],
        "turned": torch.randn(400, 500).t()[3:9, ::7],
    }
    torch.save(crops, path)
    compact(path)
    loaded = torch.load(path, weights_only=True)
    assert all(torch.equal(loaded[key], crops[key]) for key in crops)
    assert [tensor.stride() for tensor in loaded.values()] == [(13, 1), (150, 15, 1), (1, 6)]
    assert [tensor.untyped_storage().nbytes() for tensor in loaded.values()] == [
        4 * tensor.numel() for tensor in crops.values()
    ]


def test_a_storage_that_is_saved_as_such_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "sample.pt"
    base = torch.arange(9000).to(torch.uint8)
    torch.save({"view": base[:3], "storage": base.untyped_storage()}, path)
    with FileBytes(str(path)) as file:
        assert repair(file, compact=True) is None


def test_without_the_wish_nothing_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "sample.pt"
    torch.save(views(), path)
    with FileBytes(str(path)) as file:
        assert repair(file, compact=False) is None
