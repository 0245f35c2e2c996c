from __future__ import annotations

import io
import os
import random
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem, Tally, TensorFact
from diagnostics.cache.formats.numpy_zip import deep
from diagnostics.cache.scan.one_file import scan_file

ARRAYS = {"latent": np.zeros((4, 3), np.float16), "index": np.arange(5), "names": np.array(["a", "bc"])}


@pytest.fixture(params=["stored", "deflated"])
def good(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "sample.npz"
    (np.savez if request.param == "stored" else np.savez_compressed)(path, **ARRAYS)
    return path


def names(path: Path) -> list[str]:
    return [problem.name for problem in scan_file(str(path)).problems]


def deep_problems(path: Path) -> list[Problem]:
    with FileBytes(str(path)) as file:
        return deep(file, scan_file(str(path)))


def packed(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def as_npy(array: np.ndarray) -> bytes:
    with io.BytesIO() as file:
        np.save(file, array, allow_pickle=True)
        return file.getvalue()


def test_an_archive_is_described_by_its_arrays(good: Path) -> None:
    scan = scan_file(str(good))
    assert scan == FileScan(
        path=str(good),
        size=good.stat().st_size,
        code="C105",
        format="npz",
        devices={"cpu": Tally(storages=3, bytes=80)},
        dtypes={
            "float16": Tally(storages=1, bytes=24),
            "int64": Tally(storages=1, bytes=40),
            "text": Tally(storages=1, bytes=16),
        },
        tensors=3,
        facts=(
            TensorFact(key="latent", dtype="float16", shape=(4, 3), bytes=24, storage_bytes=24),
            TensorFact(key="index", dtype="int64", shape=(5,), bytes=40, storage_bytes=40),
            TensorFact(key="names", dtype="text", shape=(2,), bytes=16, storage_bytes=16),
        ),
        content=scan.content,
    )
    assert deep_problems(good) == []


def test_equal_data_has_an_equal_fingerprint_however_it_is_packed_and_other_data_another(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS)
    np.savez_compressed(tmp_path / "b.npz", **dict(reversed(ARRAYS.items())))
    np.savez(tmp_path / "c.npz", **{**ARRAYS, "index": np.arange(1, 6)})
    first, second, third = (scan_file(str(tmp_path / name)).content for name in ("a.npz", "b.npz", "c.npz"))
    assert (len(first), first == second, first == third) == (32, True, False)


def test_an_archive_cut_at_any_length_is_never_clean(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    path = tmp_path / "cut.npz"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert names(path) == ["truncated-file"], length


def test_an_array_of_objects_is_unsafe_and_named(tmp_path: Path) -> None:
    path = tmp_path / "objects.npz"
    np.savez(path, latent=np.zeros(3), names=np.array(["a", None], dtype=object))
    assert scan_file(str(path)).problems == (
        Problem(
            name="unsafe-pickle",
            observed="an array of objects: np.load needs allow_pickle=True for it and would unpickle them",
            expected="an array of numbers",
            place="names.npy",
        ),
    )


def test_many_cut_arrays_are_one_problem(tmp_path: Path) -> None:
    cut = {f"a{index}.npy": as_npy(np.zeros(10))[:-8] for index in range(7)}
    path = packed(tmp_path / "cut.npz", {"whole.npy": as_npy(np.zeros(10)), **cut})
    assert scan_file(str(path)).problems == (
        Problem(
            name="truncated-file",
            observed="200 bytes; and 6 more arrays: a1.npy, a2.npy, a3.npy, a4.npy, ...",
            expected="208 bytes for shape (10,)",
            place="a0.npy",
        ),
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_that_is_no_array_is_corrupt(tmp_path: Path, method: int) -> None:
    path = packed(tmp_path / "odd.npz", {"a.npy": b"no array, but long enough"}, method)
    assert names(path) == ["corrupt-file"]


def test_members_of_other_kinds_are_left_alone(tmp_path: Path) -> None:
    path = packed(tmp_path / "more.npz", {"a.npy": as_npy(np.zeros(3)), "readme.txt": b"text"})
    assert (names(path), scan_file(str(path)).tensors) == ([], 1)


def test_a_long_header_is_read_in_a_second_step(tmp_path: Path) -> None:
    array = np.zeros(2, dtype=[(f"field_{index}", "<f4") for index in range(60)])
    path = packed(tmp_path / "wide.npz", {"a.npy": as_npy(array)})
    assert (names(path), scan_file(str(path)).facts[0].bytes) == ([], 480)


def test_a_large_compressed_array_is_not_inflated_to_read_its_header(tmp_path: Path) -> None:
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, a=np.zeros(30_000_000, np.uint8))
    assert (names(path), scan_file(str(path)).facts[0].bytes) == ([], 30_000_000)
    assert deep_problems(path) == []


def test_zip_files_of_other_things_are_not_taken(torch_files: Path, tmp_path: Path) -> None:
    other = packed(tmp_path / "source.zip", {"readme.txt": b"text", "data/a.npy": as_npy(np.zeros(3))})
    assert scan_file(str(other)).skipped == "not a cache format known here"
    assert scan_file(str(torch_files / "with_numpy.pt")).format == "torch zip"


def test_a_changed_byte_is_found_by_reading_all_and_named_with_its_member(tmp_path: Path) -> None:
    path = tmp_path / "sample.npz"
    np.savez(path, latent=np.zeros(1000), index=np.arange(5))
    changed = bytearray(path.read_bytes())
    changed[4000] ^= 1
    path.write_bytes(changed)
    assert names(path) == []
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() == "latent.npy"
        written = archive.getinfo("latent.npy").CRC
    (problem,) = deep_problems(path)
    assert (problem.name, problem.place) == ("checksum-mismatch", "latent.npy")
    assert problem.expected == f"{written:08x}, as written"
    assert problem.observed.endswith(" of 8128 bytes")


def test_reading_all_agrees_with_zipfile_on_mutated_members(good: Path) -> None:
    whole = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        infos = archive.infolist()
    for seed in range(150):
        rng = random.Random(seed)
        info = rng.choice(infos)
        end = whole.index(b"PK", info.header_offset + 30)
        changed = bytearray(whole)
        changed[end - info.compress_size + rng.randrange(info.compress_size)] ^= rng.randrange(1, 256)
        good.write_bytes(changed)
        assert [problem.place for problem in deep_problems(good)] == zipfile_finds(good, infos), seed


def zipfile_finds(path: Path, infos: list[zipfile.ZipInfo]) -> list[str]:
    wrong = []
    with zipfile.ZipFile(path) as archive:
        for info in infos:
            try:
                archive.read(info.filename)
            except (zipfile.BadZipFile, zlib.error):
                wrong.append(info.filename)
    return wrong


def test_members_that_share_their_bytes_are_not_inflated_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, **{f"a{index}": np.zeros(1_000_000) for index in range(40)})
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        first = archive.infolist()[0]
        directory = whole[archive.start_dir :]
    # Every entry of the directory points at the first member, all others are taken out.
    kept = whole[: first.compress_size + 56]
    entries = directory[: directory.rindex(b"PK\5\6")].split(b"PK\1\2")[1:]
    moved = b"".join(b"PK\1\2" + entry[:38] + b"\0\0\0\0" + entry[42:] for entry in entries)
    end = b"PK\5\6\0\0\0\0" + len(entries).to_bytes(2, "little") * 2
    path.write_bytes(kept + moved + end + len(moved).to_bytes(4, "little") + len(kept).to_bytes(4, "little") + b"\0\0")
    assert [problem.observed for problem in deep_problems(path)] == ["members share the same bytes"]


def test_a_pickled_member_is_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "ran"),)

    path = tmp_path / "trap.npz"
    np.savez(path, a=np.array([Trap()], dtype=object))
    assert names(path) == ["unsafe-pickle"]
    assert deep_problems(path) == []
    assert not (tmp_path / "ran").exists()
