from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from diagnostics.cache.file_scan import Problem
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

INDEX = "model.safetensors.index.json"
SHARDS = {
    "model-00001-of-00002.safetensors": {"a.weight": torch.zeros(4, 4), "a.bias": torch.zeros(4)},
    "model-00002-of-00002.safetensors": {"b.weight": torch.zeros(4, 4, dtype=torch.float16)},
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of two safetensors shards and its index."""
    for name, tensors in SHARDS.items():
        save_file(tensors, tmp_path / name)
    write(tmp_path, {key: name for name, tensors in SHARDS.items() for key in tensors})
    return tmp_path


def write(folder: Path, weights: object, total_size: object = 112) -> None:
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": total_size}, "weight_map": weights}, indent=2))


def weight_map(folder: Path) -> dict[str, str]:
    return dict(json.loads((folder / INDEX).read_text())["weight_map"])


def problems(folder: Path) -> tuple[Problem, ...]:
    scan = scan_file(str(folder / INDEX))
    assert scan.code == "C109"
    return scan.problems


def test_an_index_that_fits_its_shards_is_silent(model: Path) -> None:
    assert problems(model) == ()


def test_shards_in_pickles_are_looked_for_only(tmp_path: Path) -> None:
    for name, tensors in SHARDS.items():
        torch.save(tensors, tmp_path / name.replace("safetensors", "bin"))
    weights = {key: name.replace("safetensors", "bin") for name, tensors in SHARDS.items() for key in tensors}
    write(tmp_path, weights, total_size=112)
    assert problems(tmp_path) == ()


def test_a_missing_shard_is_named(model: Path) -> None:
    (model / "model-00002-of-00002.safetensors").unlink()
    assert problems(model) == (
        Problem(
            name="missing-file",
            observed="1 of 2 files not there: model-00002-of-00002.safetensors",
            expected="every file that it names",
            place="weight_map",
        ),
    )


def test_keys_that_their_shard_does_not_hold_are_named(model: Path) -> None:
    write(model, {**weight_map(model), "a.bias": "model-00002-of-00002.safetensors"})
    assert problems(model) == (
        Problem(
            name="stale-index",
            observed="1 of 3 keys are not in their shard: 'a.bias' in model-00002-of-00002.safetensors",
            expected="each key in the header of the shard that the index names",
            place="weight_map",
        ),
    )


def test_another_total_size_is_a_warning(model: Path) -> None:
    write(model, weight_map(model), total_size=144)
    assert problems(model) == (
        Problem(
            name="stale-index",
            observed="total_size is 144, the shards hold 112 bytes of tensors",
            expected="the same number: the shards may be of another save",
            place="metadata",
            severity=Severity.WARNING,
        ),
    )
    for nothing_to_compare in (None, "144", -1, 1e300, float("nan")):
        write(model, weight_map(model), total_size=nothing_to_compare)
        assert problems(model) == ()


OUTSIDE = ["../secret", "/etc/passwd", "a/../../b", "..\\b", "C:\\b", "", "a\0b"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_out_of_the_folder_are_told(model: Path, name: str) -> None:
    write(model, {**weight_map(model), "x": name})
    assert problems(model) == (
        Problem(
            name="unsafe-path",
            observed=f"1 of 3 paths lead out of the folder: {ascii(name)[1:-1]}; none was opened",
            expected="names of files beside it",
            place="weight_map",
        ),
    )


def test_links_to_a_store_of_blobs_are_followed(model: Path) -> None:
    blobs = model.parent / "blobs"
    blobs.mkdir()
    for name in SHARDS:
        (model / name).rename(blobs / name)
        (model / name).symlink_to(blobs / name)
    assert problems(model) == ()


def test_shards_that_are_no_files_are_not_there(model: Path) -> None:
    for name in SHARDS:
        (model / name).unlink()
    (model / "model-00001-of-00002.safetensors").mkdir()
    write(model, {**weight_map(model), "x": "x" * 5000, "y": "\ud800"})
    assert [(each.name, each.observed[:7]) for each in problems(model)] == [("missing-file", "4 of 4 ")]


def test_a_damaged_shard_is_told_by_its_own_scan(model: Path) -> None:
    for content in (b"", b"\xff" * 100, b"\x02" + bytes(7) + b"{}", b"\x02" + bytes(7) + b"[]"):
        (model / "model-00001-of-00002.safetensors").write_bytes(content)
        assert {each.name for each in problems(model)} <= {"stale-index"}, content


def test_an_index_cut_off_anywhere_is_found(model: Path) -> None:
    whole = (model / INDEX).read_bytes()
    for size in range(70, len(whole)):
        (model / INDEX).write_bytes(whole[:size])
        assert [each.name for each in problems(model)] == ["truncated-file"], size


HOSTILE = {
    "deep": b'{"weight_map":' + b"[" * 100_000,
    "wide": b'{"weight_map":[' + b"{}," * 1_000_000 + b"{}]}",
    "no table": b'{"weight_map": 3}',
    "no names": b'{"weight_map": {"a": {"b": "c"}}}',
    "no text": b'{"weight_map": "\xff\xfe"}',
    "long number": b'{"weight_map": ' + b"9" * 100_000 + b"}",
    "metadata": b'{"metadata": [], "weight_map": {}}',
    "large": b'{"weight_map": "' + b"x" * (17 << 20) + b'"}',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_indices_cost_little(tmp_path: Path, content: bytes) -> None:
    (tmp_path / INDEX).write_bytes(content)
    assert {each.name for each in problems(tmp_path)} <= {"corrupt-file", "truncated-file", "not-examined"}


def test_other_json_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    assert scan_file(str(tmp_path / "config.json")).skipped
