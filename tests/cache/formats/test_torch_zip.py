from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from diagnostics.cache.file_scan import FileScan, Problem, Tally, TensorFact
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity


def names(scan: FileScan) -> list[str]:
    return [problem.name for problem in scan.problems]


def test_a_clean_file_is_described_and_has_no_problem(torch_files: Path) -> None:
    path = torch_files / "clean.pt"
    scan = scan_file(str(path))
    assert len(scan.content) == 24
    assert scan == FileScan(
        path=str(path),
        size=path.stat().st_size,
        code="C101",
        format="torch zip",
        devices={"cpu": Tally(storages=1, bytes=48)},
        dtypes={"float32": Tally(storages=1, bytes=48)},
        tensors=1,
        facts=(TensorFact(key="latent", dtype="float32", shape=(3, 4), device="cpu", bytes=48, storage_bytes=48),),
        content=scan.content,
    )


def test_a_cuda_tag_is_named_with_its_member_and_byte(torch_files: Path) -> None:
    scan = scan_file(str(torch_files / "cuda.pt"))
    offset = zipfile.ZipFile(torch_files / "cuda.pt").read("cuda/data.pkl").index(b"Q")
    assert scan.problems == (
        Problem(
            name="cuda-in-cache",
            observed="1 storage tagged cuda:1 (key 0 = latent)",
            expected="cpu",
            place=f"cuda/data.pkl byte {offset}",
            severity=Severity.ERROR,
        ),
    )
    assert scan.devices == {"cuda:1": Tally(storages=1, bytes=48)}


def test_only_the_tagged_storage_of_a_mixed_file_is_named(torch_files: Path) -> None:
    scan = scan_file(str(torch_files / "mixed.pt"))
    assert scan.devices == {"cpu": Tally(storages=1, bytes=6), "cuda:0": Tally(storages=1, bytes=40)}
    assert scan.dtypes == {"float16": Tally(storages=1, bytes=6), "int64": Tally(storages=1, bytes=40)}
    assert [problem.observed for problem in scan.problems] == ["1 storage tagged cuda:0 (key 1 = b)"]


@pytest.mark.parametrize(("name", "device"), [("mps.pt", "mps"), ("cuda_protocol4.pt", "cuda:7")])
def test_other_devices_and_pickle_protocols_are_read_too(torch_files: Path, name: str, device: str) -> None:
    assert list(scan_file(str(torch_files / name)).devices) == [device]


@pytest.mark.parametrize(
    ("name", "tensors", "storages"),
    [
        ("views.pt", 2, 1),
        ("state_dict.pth", 2, 2),
        ("protocol5.pt", 1, 1),
        ("with_numpy.pt", 1, 1),
        ("many.pt", 300, 300),
    ],
)
def test_healthy_files_of_all_kinds_are_clean(torch_files: Path, name: str, tensors: int, storages: int) -> None:
    scan = scan_file(str(torch_files / name))
    assert (scan.problems, scan.tensors, scan.devices["cpu"].storages) == ((), tensors, storages)


def test_parameters_and_meta_tensors_are_clean(torch_files: Path) -> None:
    scan = scan_file(str(torch_files / "odd.bin"))
    assert (scan.problems, scan.format) == ((), "torch zip")


def test_a_pickle_that_would_run_a_command_is_named_and_not_run(
    torch_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scan = scan_file(str(torch_files / "unsafe.pt"))
    offset = zipfile.ZipFile(torch_files / "unsafe.pt").read("unsafe/data.pkl").index(b"cposix\nsystem")
    assert [problem.observed for problem in scan.problems] == [f"loading it would import posix.system (byte {offset})"]
    assert names(scan) == ["unsafe-pickle"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_cut_at_any_length_is_never_clean(torch_files: Path, tmp_path: Path) -> None:
    whole = (torch_files / "cuda.pt").read_bytes()
    path = tmp_path / "cut.pt"
    # The last 22 bytes are the end record; torch needs all of it.
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert names(scan_file(str(path))) == ["truncated-file"], length


def test_bytes_after_the_end_record_are_tolerated_as_torch_tolerates_them(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "longer.pt"
    path.write_bytes((torch_files / "clean.pt").read_bytes() + b"\0" * 1000)
    assert scan_file(str(path)).problems == ()


def repacked(source: Path, target: Path, *, method: int = zipfile.ZIP_STORED, folder: str = "archive") -> None:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", method) as new:
        for name in old.namelist():
            new.writestr(f"{folder}/{name.partition('/')[2]}", old.read(name))


def test_a_compressed_archive_with_a_nested_folder_name_is_read(torch_files: Path, tmp_path: Path) -> None:
    repacked(torch_files / "cuda.pt", tmp_path / "zipped.pt", method=zipfile.ZIP_DEFLATED, folder="a/b/c")
    assert list(scan_file(str(tmp_path / "zipped.pt")).devices) == ["cuda:1"]


def test_zip64_sizes_and_offsets_are_followed(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "zip64.pt"
    path.write_bytes(as_zip64((torch_files / "cuda.pt").read_bytes()))
    assert zipfile.ZipFile(path).testzip() is None  # the rewriting below is right
    assert list(scan_file(str(path)).devices) == ["cuda:1"]


def as_zip64(data: bytes) -> bytes:
    """Returns the same archive with every number moved to the zip64 fields, as archives over 4 GiB have them."""
    end = data.rfind(b"PK\5\6")
    count, size, offset = struct.unpack_from("<HLL", data, end + 10)
    directory, at = b"", offset
    while at < offset + size:
        name, extra, comment = struct.unpack_from("<3H", data, at + 28)
        stored, full = struct.unpack_from("<2L", data, at + 20)
        begin = struct.unpack_from("<L", data, at + 42)[0]
        wide = struct.pack("<2H3Q", 1, 24, full, stored, begin)
        head = bytearray(data[at : at + 46])
        struct.pack_into("<2L", head, 20, 0xFFFFFFFF, 0xFFFFFFFF)
        struct.pack_into("<H", head, 30, len(wide))
        struct.pack_into("<L", head, 42, 0xFFFFFFFF)
        directory += bytes(head) + data[at + 46 : at + 46 + name] + wide
        at += 46 + name + extra + comment
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, offset + len(directory), 1)
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return data[:offset] + directory + end64 + locator + tail


def test_a_storage_shorter_than_its_tensor_is_named(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.pt"
    with zipfile.ZipFile(torch_files / "clean.pt") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name)[:40] if name.endswith("data/0") else old.read(name))
    problem = scan_file(str(path)).problems[0]
    assert (problem.name, problem.observed, problem.expected) == (
        "corrupt-file",
        "1 of 1 storages incomplete: clean/data/0 holds 40 bytes",
        "48 bytes (12 x float32)",
    )


def test_a_directory_that_lies_about_its_place_is_corrupt(torch_files: Path, tmp_path: Path) -> None:
    data = bytearray((torch_files / "clean.pt").read_bytes())
    # Torch writes a zip64 record always, and reads the directory's place there.
    struct.pack_into("<Q", data, data.rfind(b"PK\6\6") + 48, 0x7FFFFFFF)
    path = tmp_path / "lie.pt"
    path.write_bytes(data)
    problem = scan_file(str(path)).problems[0]
    assert (problem.name, problem.place) == ("corrupt-file", "end record")
    assert problem.observed.startswith("the central directory claims bytes 2147483647 to ")


def test_a_pickle_that_inflates_beyond_its_promise_is_stopped(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"(" * (300 << 20))
    problem = scan_file(str(path)).problems[0]
    assert (problem.name, problem.observed) == ("corrupt-file", "claims 314,572,800 bytes, over 33,554,432")


def test_a_temporary_file_is_a_warning_and_counts_no_device(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "sample_00001.pt.tmp"
    path.write_bytes((torch_files / "cuda.pt").read_bytes()[:500])
    scan = scan_file(str(path))
    assert (scan.devices, names(scan), scan.problems[0].severity) == ({}, ["half-written"], Severity.WARNING)


def test_an_empty_file_with_the_name_of_a_cache_file_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / "empty.pt").touch()
    (tmp_path / "_SUCCESS").touch()
    assert scan_file(str(tmp_path / "empty.pt")).problems[0].observed == "0 bytes; it is empty"
    assert scan_file(str(tmp_path / "_SUCCESS")).skipped == "empty"


def test_a_torch_name_on_other_content_is_corrupt_and_another_name_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.pt").write_text("hello, world")
    (tmp_path / "notes.txt").write_text("hello, world")
    assert names(scan_file(str(tmp_path / "notes.pt"))) == ["corrupt-file"]
    assert scan_file(str(tmp_path / "notes.txt")).skipped == "not a cache format known here"
