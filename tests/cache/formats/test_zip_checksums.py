from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from diagnostics.cache.archives.zip_directory import CHUNK_BYTES, deep
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.scan.one_file import formats, scan_file

WITHOUT_CHECKSUMS = """
import sys, torch
torch.serialization.set_crc32_options(False)
torch.save({"latent": torch.arange(1000.0)}, sys.argv[1])
"""


def deep_problems(path: Path) -> list[Problem]:
    with FileBytes(str(path)) as file:
        return deep(file, FileScan(path=str(path), size=file.size))


def flipped(source: Path, target: Path, member: str, at: int = 0) -> Path:
    """Returns a copy in which one bit of a stored member is another one."""
    changed = bytearray(source.read_bytes())
    with zipfile.ZipFile(source) as archive:
        info = archive.getinfo(member)
    begin = (
        info.header_offset + 30 + sum(changed[info.header_offset + 26 + byte] << (byte % 2 * 8) for byte in range(4))
    )
    changed[begin + at] ^= 4
    target.write_bytes(changed)
    return target


def test_the_formats_that_are_zip_archives_read_all_on_request() -> None:
    assert {plugin.FORMAT for plugin in formats() if getattr(plugin, "deep", None) is deep} == {"torch zip", "npz"}


@pytest.mark.parametrize("name", ["clean.pt", "cuda.pt", "many.pt", "views.pt"])
def test_files_that_torch_wrote_are_clean(torch_files: Path, name: str) -> None:
    assert deep_problems(torch_files / name) == []


def test_a_bit_that_flipped_in_a_tensor_is_found_by_reading_all_alone(torch_files: Path, tmp_path: Path) -> None:
    path = flipped(torch_files / "clean.pt", tmp_path / "flipped.pt", "clean/data/0", at=5)
    assert scan_file(str(path)).problems == ()
    with zipfile.ZipFile(path) as archive:
        written = archive.getinfo("clean/data/0")
    (problem,) = deep_problems(path)
    assert (problem.name, problem.place) == ("checksum-mismatch", "clean/data/0")
    assert problem.expected == f"{written.CRC:08x}, as written"
    assert problem.observed.endswith(f" of {written.file_size} bytes")


def test_a_file_that_torch_wrote_without_checksums_is_clean(tmp_path: Path) -> None:
    path = tmp_path / "bare.pt"
    subprocess.run([sys.executable, "-c", WITHOUT_CHECKSUMS, str(path)], check=True)
    assert deep_problems(path) == []
    assert deep_problems(flipped(path, tmp_path / "flipped.pt", "bare/data/0", at=100)) == []


def test_five_members_are_named_however_many_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    np.savez(path, **{f"a{index}": np.zeros(4) for index in range(9)})
    for index in range(9):
        flipped(path, path, f"a{index}.npy", at=130)
    assert [problem.place for problem in deep_problems(path)] == [f"a{index}.npy" for index in range(5)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES])
def test_members_of_all_sizes_are_read_in_pieces(tmp_path: Path, method: int, size: int) -> None:
    path = tmp_path / "sizes.zip"
    data = {"zeros": bytes(size), "noise": np.random.default_rng(0).bytes(size)}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in data.items():
            archive.writestr(name, content)
    assert deep_problems(path) == []


def test_a_member_that_inflates_to_more_than_it_claims_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(10_000_000))
    whole = path.read_bytes()
    path.write_bytes(whole.replace((10_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    assert deep_problems(path) == [
        Problem(
            name="corrupt-file",
            observed="holds more than the 1000 bytes it claims",
            expected="a whole member",
            place="bomb",
        )
    ]
    path.write_bytes(whole.replace((10_000_000).to_bytes(4, "little"), (20_000_000).to_bytes(4, "little")))
    assert [problem.observed for problem in deep_problems(path)] == ["holds 10000000 bytes and claims 20000000"]
