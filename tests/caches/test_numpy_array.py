from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.caches.file_scan import FileScan, Tally
from diagnostics.caches.one_file import scan_file


def test_an_array_file_is_described_and_has_no_device_of_its_own(torch_files: Path) -> None:
    path = torch_files / "array.npy"
    assert scan_file(str(path)) == FileScan(
        path=str(path),
        size=path.stat().st_size,
        code="C103",
        format="npy",
        devices={"cpu": Tally(storages=1, bytes=24)},
        dtypes={"float16": Tally(storages=1, bytes=24)},
        tensors=1,
    )


def test_an_array_of_objects_is_unsafe(torch_files: Path) -> None:
    problems = scan_file(str(torch_files / "objects.npy")).problems
    assert [problem.observed for problem in problems] == ["an array of objects: loading it would unpickle them"]


def test_an_array_file_cut_at_any_length_is_never_clean(torch_files: Path, tmp_path: Path) -> None:
    whole = (torch_files / "array.npy").read_bytes()
    path = tmp_path / "cut.npy"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert [problem.name for problem in scan_file(str(path)).problems] == ["truncated-file"], length


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[1]",
        b"{'descr': '<f4'}",
        b"{'descr': '<f4', 'shape': (-1,)}",
        b"(" * 5000,
        b"{'descr': 'q', 'shape': ()}",
    ],
)
def test_a_header_of_nonsense_is_corrupt(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "odd.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert [problem.name for problem in scan_file(str(path)).problems] == ["corrupt-file"]
