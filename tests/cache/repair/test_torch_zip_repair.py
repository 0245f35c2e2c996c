"""Torch zip files repaired by an append and by a copy: what real readers make of every result."""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.serialization import config

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.formats.torch_zip import repair
from diagnostics.cache.patch import ByteRange, Patch
from diagnostics.cache.scan.one_file import scan_file

Same = Callable[[Any, Any], bool]
END_RECORD_BYTES = 22


def patch_of(path: Path, *, compact: bool = False) -> Patch:
    with FileBytes(str(path)) as file:
        patch = repair(file, compact=compact)
    assert patch is not None
    return patch


def pieces_of(path: Path, patch: Patch) -> bytes:
    old = path.read_bytes()
    return b"".join(old[p.offset : p.offset + p.size] if isinstance(p, ByteRange) else p for p in patch.pieces)


def repaired(path: Path, patch: Patch) -> dict[str, Path]:
    """Writes the file as an append and as a copy make it."""
    made = {"append": path.read_bytes() + patch.tail, "copy": pieces_of(path, patch)}
    for way, data in made.items():
        path.with_suffix(f".{way}.pt").write_bytes(data)
    return {way: path.with_suffix(f".{way}.pt") for way in made}


def value() -> dict[str, Any]:
    base = torch.arange(30.0)
    return {
        "z": torch.randn(3, 4),
        "shared": [base[2:9], base, base.view(5, 6).t()],
        "nested": {"step": 7, "rate": 0.1, "list": [torch.zeros(2, dtype=torch.int64), None, True, (1, "x")]},
        "none": torch.empty(0, 3),
        "number": torch.tensor(4.5),
        "grad": torch.ones(3, requires_grad=True),
        "weight": torch.nn.Parameter(torch.randn(2, 2)),
        "sparse": torch.eye(4).to_sparse(),
        "jagged": torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)]),
        "quantised": torch.quantize_per_tensor(torch.randn(5), 0.1, 3, torch.qint8),
        "device": "".join(("cuda", ":0")),
    } | {
        str(dtype): torch.arange(5).to(dtype)
        for dtype in (
            *(torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128, torch.bool),
            *(torch.int8, torch.int16, torch.int32, torch.uint8, torch.uint16, torch.uint32, torch.uint64),
            *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e8m0fnu),
        )
    }


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:torch.quantize_per_tensor")
@pytest.mark.filterwarnings("ignore:.*nested.*", "ignore:.*quantiz.*", "ignore:TypedStorage is deprecated")
@pytest.mark.parametrize(
    "device", ["cuda:0", "cuda:7", "cuda", "mps", "xpu:12", "hpu", "npu:0", "xla:1", "privateuseone:0"]
)
def test_every_kind_of_tensor_loads_bit_for_bit_as_on_the_cpu(
    device: str, tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "".join(device), value(), path)
    wanted = torch.load(path, map_location="cpu", weights_only=True)
    patch = patch_of(path)
    for made in repaired(path, patch).values():
        assert same(torch.load(made, weights_only=True), wanted)
        assert same(torch.load(made, weights_only=False), wanted)
        assert same(torch.load(made, weights_only=True, mmap=True), wanted)
        with config.patch({"load.calculate_storage_offsets": True}):
            assert same(torch.load(made, weights_only=True, mmap=True), wanted)
        assert zipfile.ZipFile(made).testzip() is None
        assert [p for p in scan_file(str(made)).problems if p.name == "cuda-in-cache"] == []
    assert wanted["device"] == "cuda:0"


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_an_append_cut_at_any_length_reads_as_the_old_file(
    protocol: int, tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    path, cut = tmp_path / "sample.pt", tmp_path / "cut.pt"
    tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0), "also": "cuda:1"}, path, pickle_protocol=protocol)
    weights_only = protocol == 2  # torch's own reader of weights knows no later protocol
    wanted = torch.load(path, map_location="cpu", weights_only=weights_only)
    old, tail = path.read_bytes(), patch_of(path).tail
    shutil.copy(path, cut)
    for length in range(1, len(tail)):
        with cut.open("ab") as file:
            file.write(tail[length - 1 : length])
        with pytest.raises(RuntimeError, match="CUDA device"):
            torch.load(cut, weights_only=weights_only)
        if length % 16 == 0 or len(tail) - length <= END_RECORD_BYTES:
            assert same(torch.load(cut, map_location="cpu", weights_only=weights_only, mmap=True), wanted)
            assert [p.name for p in scan_file(str(cut)).problems if "torch.load" not in p.observed] == ["cuda-in-cache"]
        # Python's zipfile gives up on an end record that is begun: those 22 bytes are written by one call.
        if length % 16 == 0 and len(tail) - length > END_RECORD_BYTES:
            assert zipfile.ZipFile(cut).testzip() is None
    cut.write_bytes(old + tail)
    assert same(torch.load(cut, weights_only=weights_only, mmap=True), wanted)
    assert zipfile.ZipFile(cut).testzip() is None


def test_a_text_of_the_users_that_is_the_same_object_as_the_tag_stays(
    tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    tag = "cuda:1"
    for name, content in {
        "before": {"where": tag, "z": torch.zeros(2), "y": torch.ones(2)},
        "behind": {"z": torch.zeros(2), "where": tag, "y": torch.ones(2), tag: [tag]},
    }.items():
        path = tmp_path / f"{name}.pt"
        tagged(tag, content, path)
        for made in repaired(path, patch_of(path)).values():
            assert same(torch.load(made, weights_only=True), content)


class OnDevice:
    """Pickles as a tensor of a device without storages (XLA and the like) does."""

    def __init__(self, tensor: torch.Tensor, device: str) -> None:
        self.arguments = (tensor, tensor.dtype, device, False)

    def __reduce__(self) -> tuple[Any, ...]:
        return torch._utils._rebuild_device_tensor_from_cpu_tensor, self.arguments


def test_tensors_that_name_a_device_of_their_own_and_tensors_with_attributes_are_repaired(
    tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    path = tmp_path / "sample.pt"
    noted = torch.arange(4.0)
    noted.note = "cuda:0"
    content = {"x": OnDevice(torch.ones(2), "xla:0"), "noted": noted, "text": "xla:0"}
    tagged(lambda storage: "".join(("cuda", ":0")), content, path)
    wanted = torch.load(path, map_location="cpu", weights_only=True)
    patch = patch_of(path)
    assert patch.changes == ("2 storages cuda:0 -> cpu", "1 storage xla:0 -> cpu")
    for made in repaired(path, patch).values():
        loaded = torch.load(made, weights_only=True)
        assert same(loaded, wanted)
        assert (loaded["text"], loaded["noted"].note) == ("xla:0", "cuda:0")


def test_meta_and_cpu_tags_stay_and_a_clean_file_needs_nothing(tmp_path: Path, tagged: Callable[..., None]) -> None:
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "meta" if storage.nbytes() == 8 else "cpu", [torch.zeros(2), torch.zeros(3)], path)
    with FileBytes(str(path)) as file:
        assert repair(file, compact=False) is None


def test_a_file_is_repaired_again_and_again(tmp_path: Path, tagged: Callable[..., None], same: Same) -> None:
    """A half written append, then a whole one, then a tag put back by hand: each is repaired behind the last."""
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0)}, path)
    wanted = torch.load(path, map_location="cpu", weights_only=True)
    with path.open("ab") as file:
        file.write(patch_of(path).tail[:-1])
    with path.open("ab") as file:
        file.write(patch_of(path).tail)
    assert same(torch.load(path, weights_only=True), wanted)
    assert zipfile.ZipFile(path).testzip() is None
    path.write_bytes(path.read_bytes().replace(b"X\3\0\0\0cpu", b"X\3\0\0\0mps"))
    for made in repaired(path, patch_of(path)).values():
        assert same(torch.load(made, weights_only=True, mmap=True), wanted)


def test_an_end_record_in_the_users_text_or_a_long_pickle_forbids_the_append(
    tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    for content in (
        {"z": torch.zeros(2), "text": "PK\5\6" + "x" * 30},
        {f"t{i}": torch.full((2,), float(i)) for i in range(900)},
    ):
        path = tmp_path / "sample.pt"
        tagged(lambda storage: "cuda:1", content, path)
        patch = patch_of(path)
        assert patch.tail == b""
        assert patch.size == path.stat().st_size
        made = repaired(path, patch)["copy"]
        assert same(torch.load(made, weights_only=True), content)
        assert zipfile.ZipFile(made).testzip() is None


def test_an_archive_that_another_tool_packed_is_repaired(
    tmp_path: Path, tagged: Callable[..., None], same: Same
) -> None:
    for method, comment in (
        (zipfile.ZIP_DEFLATED, b""),
        (zipfile.ZIP_STORED, b""),
        (zipfile.ZIP_STORED, b"packed by hand"),
    ):
        path, packed = tmp_path / "sample.pt", tmp_path / "packed.pt"
        tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0)}, path)
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(packed, "w", method) as target:
            target.comment = comment
            for name in source.namelist():
                target.writestr(name, source.read(name))
        wanted = torch.load(packed, map_location="cpu", weights_only=True)
        patch = patch_of(packed)
        assert (patch.tail == b"") == bool(comment)
        ways = repaired(packed, patch)
        for made in [ways["copy"]] if comment else ways.values():
            assert same(torch.load(made, weights_only=True), wanted)
            assert zipfile.ZipFile(made).testzip() is None
            assert zipfile.ZipFile(made).comment == comment


def test_a_file_of_many_gigabytes_is_repaired_by_a_short_append(tmp_path: Path, tagged: Callable[..., None]) -> None:
    """A sparse file: the directory and the moved pickle lie beyond 4 GiB, where 32 bits do not reach."""
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0)}, path)
    old = path.read_bytes()
    gap = 5 << 30
    end64_at = old.index(b"PK\6\6")
    directory_at = struct.unpack_from("<Q", old, end64_at + 48)[0]
    end64 = bytearray(old[end64_at:])
    struct.pack_into("<Q", end64, 48, directory_at + gap)
    struct.pack_into("<Q", end64, 56 + 8, end64_at + gap)
    struct.pack_into("<L", end64, 76 + 16, 0xFFFFFFFF)
    with path.open("r+b") as file:
        file.seek(directory_at + gap)
        file.write(old[directory_at:end64_at] + end64)
    assert torch.load(path, map_location="cpu", weights_only=True)["z"].sum() == 66
    patch = patch_of(path)
    assert len(patch.tail) < 2000
    with path.open("ab") as file:
        file.write(patch.tail[:-1])
    assert torch.load(path, map_location="cpu", weights_only=True)["z"].sum() == 66
    with path.open("ab") as file:
        file.write(patch.tail[-1:])
    loaded = torch.load(path, weights_only=True, mmap=True)
    assert loaded["z"].tolist() == list(range(12))
    assert zipfile.ZipFile(path).testzip() is None
    assert path.stat().st_blocks * 512 < 1 << 20
