"""Files of the old torch format, of old torch versions, and parts of distributed checkpoints, repaired."""

from __future__ import annotations

import pickle
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.formats import torch_legacy
from diagnostics.cache.patch import ByteRange, Patch
from diagnostics.cache.repair.apply import apply
from diagnostics.cache.repair.look import repair_of

Same = Callable[[Any, Any], bool]
OLD = Path(__file__).parents[1] / "formats" / "old_torch"
# The trial zip format of torch 1.4 keeps its storages under another name; no later torch reads it.
TAGGED = sorted(p for p in OLD.glob("*/*-cuda*.pt") if not (p.parent.name == "1.4.0" and "-zip-" in p.name))


def legacy_patch(path: Path) -> Patch | None:
    with FileBytes(str(path)) as file:
        return torch_legacy.repair(file, compact=False)


def load(path: Path, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TypedStorage is deprecated|Detected pickle protocol", UserWarning)
        return torch.load(path, **options)


@pytest.mark.parametrize("path", TAGGED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_files_of_old_torch_load_without_the_device(path: Path, tmp_path: Path, same: Same) -> None:
    wanted = load(path, map_location="cpu", weights_only=True)
    for way in ("its own", "copy"):
        fixed = tmp_path / f"{way}.pt"
        shutil.copy(path, fixed)
        patch = repair_of(str(fixed), compact=False)
        assert patch is not None
        applied = apply(fixed, patch if way == "its own" else replace(patch, tail=b""))
        assert applied.way == ("append" if way == "its own" and "-zip-" in path.name else "copy")
        assert same(load(fixed, weights_only=True), wanted)
        assert repair_of(str(fixed), compact=False) is None


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("device", ["cuda:0", "mps", "xpu:11", "privateuseone:3"])
def test_the_old_format_is_repaired_whatever_the_length_of_the_tag(
    device: str, protocol: int, tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    path = tmp_path / "sample.pt"
    base = torch.arange(30.0)
    value = {"z": base, "view": base[3:7], "half": torch.zeros(3, dtype=torch.bfloat16), "device": device}
    tagged(device, value, path, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    weights_only = protocol == 2
    wanted = load(path, map_location="cpu", weights_only=weights_only)
    patch = legacy_patch(path)
    assert patch is not None
    assert patch.changes == (f"2 storages {device} -> cpu",)
    before = path.read_bytes()
    path.write_bytes(b"".join(before[p.offset :][: p.size] if isinstance(p, ByteRange) else p for p in patch.pieces))
    assert same(load(path, weights_only=weights_only), wanted)
    assert legacy_patch(path) is None


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_a_distributed_checkpoint_is_repaired_with_every_byte_at_its_place(tmp_path: Path, same: Same) -> None:
    folder = tmp_path / "checkpoint"
    state = {"w": torch.randn(100), "extra": {"z": torch.arange(7.0), "name": "cuda:3"}, "step": 3}
    real = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "".join(("cuda", ":3"))
    try:
        torch.distributed.checkpoint.save(state, checkpoint_id=folder, no_dist=True)
    finally:
        torch.serialization.location_tag = real
    (part,) = folder.glob("*.distcp")
    before = part.read_bytes()
    patch = repair_of(str(part), compact=False)
    assert patch is not None
    assert (patch.changes, patch.tail, patch.size) == (("2 storages cuda:3 -> cpu",), b"", len(before))
    assert apply(part, patch).way == "copy"
    assert repair_of(str(part), compact=False) is None
    loaded = {"w": torch.zeros(100), "extra": {"z": torch.zeros(7), "name": ""}, "step": 0}
    torch.distributed.checkpoint.load(loaded, checkpoint_id=folder, no_dist=True)
    assert same(loaded, state)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("device", ["cuda:0", "mps", "privateuseone:3"])
def test_torch_files_inside_a_plain_pickle_are_repaired(
    device: str, protocol: int, tmp_path: Path, same: Same, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sample.pkl"
    base = torch.arange(40_000.0)  # its bytes lie outside the pickle's frames, the others' inside
    value = {"z": base, "view": base[3:7], "half": torch.zeros(3, dtype=torch.bfloat16), "device": device}
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: device)
    path.write_bytes(pickle.dumps(value, protocol) + pickle.dumps([value["half"]], protocol))
    monkeypatch.undo()
    patch = repair_of(str(path), compact=False)
    assert patch is not None
    assert patch.changes == (
        f"4 storages {device} -> cpu",
    )  # a plain pickle writes a shared storage once for each view
    assert apply(path, patch).way == "copy"
    with path.open("rb") as stream:
        loaded, second = pickle.load(stream), pickle.load(stream)  # noqa: S301 - written above
    assert same(loaded, {**value, "view": value["view"].clone()})
    assert same(second, [value["half"]])
    assert repair_of(str(path), compact=False) is None
