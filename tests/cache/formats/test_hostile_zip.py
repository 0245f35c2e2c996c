"""Archives that torch never writes: a finding each, in bounded time, and of what torch itself would read."""

from __future__ import annotations

import io
import pickle
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

EVIL = b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R."
CLEAN = b"\x80\x02}."


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as written, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names written twice
        if not any(name.endswith("version") for name, _ in members):
            written.writestr("archive/version", b"3\n")
        for name, data in members:
            written.writestr(name, data)
    return buffer.getvalue()


def scanned(folder: Path, data: bytes) -> FileScan:
    (folder / "sample.pt").write_bytes(data)
    return scan_file(str(folder / "sample.pt"))


def observed(folder: Path, data: bytes) -> list[str]:
    return [problem.observed for problem in scanned(folder, data).problems]


def torch_saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("second", ["archive/data.pkl", "archive/DATA.PKL"])
def test_two_members_of_one_name_are_a_finding(tmp_path: Path, second: str) -> None:
    for pickles in ((CLEAN, EVIL), (EVIL, CLEAN)):
        problems = observed(tmp_path, archive(("archive/data.pkl", pickles[0]), (second, pickles[1])))
        assert any(line.startswith("2 members share a name, 'archive/data.pkl' for one") for line in problems)


def test_the_pickle_in_the_first_members_folder_is_the_one_that_torch_reads(tmp_path: Path) -> None:
    data = archive(("b/version", b"3\n"), ("a/data.pkl", CLEAN), ("b/data.pkl", EVIL))
    assert observed(tmp_path, data) == [
        "loading it would import posix.system (byte 2)",
        "member 'a/data.pkl' is not in the archive's folder 'b/'",
    ]
    with pytest.raises(RuntimeError, match=r"is not in a subdirectory b/: a/data\.pkl"):
        torch.load(tmp_path / "sample.pt", weights_only=True)


def test_an_archive_without_its_version_is_refused_as_torch_refuses_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sample.pt", "w") as written:
        written.writestr("archive/data.pkl", CLEAN)
    assert [problem.observed for problem in scan_file(str(tmp_path / "sample.pt")).problems] == [
        "no member archive/version"
    ]
    with pytest.raises(RuntimeError, match="version"):
        torch.load(tmp_path / "sample.pt", weights_only=True)


def test_members_that_overlap_are_a_finding(tmp_path: Path) -> None:
    data = bytearray(torch_saved({"a": torch.zeros(100), "b": torch.ones(100)}))
    entries = [at for at in range(len(data)) if data.startswith(b"PK\1\2", at)]
    a, b = (at for at in entries if b"/data/" in data[at + 46 : at + 64])
    data[b + 42 : b + 46] = data[a + 42 : a + 46]
    assert "the bytes of 'archive/data/0' and 'archive/data/1' overlap" in observed(tmp_path, bytes(data))


@pytest.mark.parametrize("name", ["archive/../../etc/passwd", "/etc/passwd", "..\\evil", "C:\\evil"])
def test_a_member_name_that_leaves_the_folder_is_a_warning(tmp_path: Path, name: str) -> None:
    problem = scanned(tmp_path, archive(("archive/data.pkl", CLEAN), (name, b"x"))).problems[-1]
    assert (problem.name, problem.severity) == ("path-traversal", Severity.WARNING)
    assert repr(name) in problem.observed


@pytest.mark.parametrize("name", ["archive/a..b", "archive/.data/serialization_id", "archive/..."])
def test_names_with_dots_that_stay_in_the_folder_are_clean(tmp_path: Path, name: str) -> None:
    assert observed(tmp_path, archive(("archive/data.pkl", CLEAN), (name, b"x"))) == []


def test_a_local_header_that_names_another_member_is_a_finding(tmp_path: Path) -> None:
    data = archive(("archive/data.pkl", CLEAN)).replace(b"archive/data.pkl", b"archive/fake.pkl", 1)
    (line,) = observed(tmp_path, data)
    assert line == "the directory says 'archive/data.pkl', the member's own header b'archive/fake.pkl'"


def test_of_two_end_records_the_last_is_the_one_that_torch_reads(tmp_path: Path) -> None:
    clean, evil = archive(("archive/data.pkl", CLEAN)), archive(("archive/data.pkl", EVIL))
    # The second archive's offsets are made those of the whole file.
    moved = bytearray(evil)
    end = moved.rfind(b"PK\5\6")
    entries = [at for at in range(len(moved)) if moved.startswith(b"PK\1\2", at)]
    struct.pack_into("<L", moved, end + 16, entries[0] + len(clean))
    for at in entries:
        struct.pack_into("<L", moved, at + 42, len(clean) + int.from_bytes(moved[at + 42 : at + 46], "little"))
    for data, unsafe in ((clean + moved, True), (evil + b"\0" * 50, True), (clean + b"\0" * 50, False)):
        assert bool(observed(tmp_path, bytes(data))) is unsafe
        if unsafe:
            with pytest.raises(pickle.UnpicklingError, match=r"posix\.system"):
                torch.load(tmp_path / "sample.pt", weights_only=True)
        else:
            assert torch.load(tmp_path / "sample.pt", weights_only=True) == {}


def test_an_end_record_hidden_in_the_comment_is_followed_as_torch_follows_it(tmp_path: Path) -> None:
    evil, clean = archive(("archive/data.pkl", EVIL)), archive(("archive/data.pkl", CLEAN))
    fake = clean[clean.rfind(b"PK\5\6") :]  # directory and pickle of the same length: its offsets fit nothing here
    commented = bytearray(evil)
    struct.pack_into("<H", commented, len(commented) - 2, len(fake))
    problems = scanned(tmp_path, bytes(commented) + fake).problems
    assert problems != ()
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        torch.load(tmp_path / "sample.pt", weights_only=True)


def test_bytes_before_the_archive_make_it_no_torch_file(tmp_path: Path) -> None:
    assert observed(tmp_path, b"#!/bin/sh\n" + archive(("archive/data.pkl", EVIL))) != []


def test_a_pickle_behind_its_tensors_and_a_long_directory_is_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(torch_saved([torch.zeros(1) for _ in range(600)]))) as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    members.sort(key=lambda member: member[0] == "archive/data.pkl")
    members.sort(key=lambda member: not member[0].startswith("archive/data/"))
    data = archive(*members)
    assert b"/data.pkl" not in data[: 8 << 10]
    scan = scanned(tmp_path, data)
    assert (scan.code, scan.tensors, scan.problems) == ("C101", 600, ())


def test_files_of_one_layout_do_not_hide_each_others_faults(tmp_path: Path) -> None:
    whole = torch_saved({"latent": torch.ones(50)})
    assert observed(tmp_path, whole) == []
    directory = whole.find(b"PK\1\2")
    for at in range(directory, len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 0x41
        fresh = scanned(tmp_path, bytes(changed))
        again = scanned(tmp_path, bytes(changed))
        assert fresh == again, at
    assert observed(tmp_path, whole) == []


def test_the_fingerprint_tells_data_and_not_names(tmp_path: Path) -> None:
    contents = []
    for name, value in (("a", 1.0), ("b", 1.0), ("c", 2.0)):
        torch.save({"latent": torch.full((5,), value)}, tmp_path / f"{name}.pt")
        contents.append(scan_file(str(tmp_path / f"{name}.pt")).content)
    assert contents[0] == contents[1] != contents[2]
    assert all(contents)


def test_a_file_without_checksums_has_no_fingerprint(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"latent": torch.ones(5)}, tmp_path / "a.pt")
    finally:
        torch.serialization.set_crc32_options(True)
    scan = scan_file(str(tmp_path / "a.pt"))
    assert (scan.content, scan.problems) == ("", ())
