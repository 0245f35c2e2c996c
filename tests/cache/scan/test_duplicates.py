from __future__ import annotations

import os
from pathlib import Path

from diagnostics.cache.file_scan import FileScan, Tally
from diagnostics.cache.folder_checks import duplicates, fingerprints


def told(scans: list[FileScan]) -> list[tuple[str, str, int]]:
    run = duplicates.begin()
    for scan in scans:
        run.add(scan)
    return [(each.path, each.problem.observed, each.files) for each in run.finish()]


def a_file(path: Path, data: bytes, *, content: str = "same") -> FileScan:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return scan_of(path, content)


def scan_of(path: Path, content: str = "same") -> FileScan:
    size = path.stat().st_size
    devices = {"cpu": Tally(storages=1, bytes=size)}
    return FileScan(path=str(path), size=size, code="C101", format="torch zip", content=content, devices=devices)


def test_a_sample_saved_twice_is_named(tmp_path: Path) -> None:
    one = a_file(tmp_path / "sample_00001.pt", b"x" * 5000)
    two = a_file(tmp_path / "sample_00002.pt", b"x" * 5000)
    other = a_file(tmp_path / "sample_00003.pt", b"y" * 5000, content="other")
    assert told([one, two, other]) == [(two.path, f"the same data as {one.path}", 1)]


def test_one_variable_saved_under_all_names_is_counted(tmp_path: Path) -> None:
    found = told([a_file(tmp_path / f"sample_{i:05d}.pt", b"x" * 5000) for i in range(300)])
    assert len(found) == duplicates.MAX_PAIRS
    assert sum(files for _, _, files in found) == 299
    assert found[-1][1:] == (f"the same data as {tmp_path}/sample_00000.pt, and 199 more files like it", 200)


def test_a_sample_of_both_splits_is_named(tmp_path: Path) -> None:
    one = a_file(tmp_path / "train" / "sample_00001.pt", b"x" * 5000)
    two = a_file(tmp_path / "val" / "sample_00007.pt", b"x" * 5000)
    assert [each[0] for each in told([one, two])] == [two.path]


def test_one_checksum_for_other_data_is_chance(tmp_path: Path) -> None:
    one = a_file(tmp_path / "sample_00001.pt", b"x" * 5000)
    assert told([one, a_file(tmp_path / "sample_00002.pt", b"y" * 5000)]) == []


def test_links_to_one_file_are_no_duplicates(tmp_path: Path) -> None:
    one = a_file(tmp_path / "sample_00001.pt", b"x" * 5000)
    os.link(one.path, tmp_path / "sample_00002.pt")
    (tmp_path / "sample_00003.pt").symlink_to(one.path)
    assert told([one, scan_of(tmp_path / "sample_00002.pt"), scan_of(tmp_path / "sample_00003.pt")]) == []


def test_copies_by_design_are_silent(tmp_path: Path) -> None:
    one = a_file(tmp_path / "a" / "epoch_00001.pt", b"x" * 5000)
    best = a_file(tmp_path / "a" / "best.pt", b"x" * 5000)
    copy = a_file(tmp_path / "b" / "epoch_00001.pt", b"x" * 5000)
    assert told([one, best, copy]) == []


def test_little_data_and_unknown_contents_are_silent(tmp_path: Path) -> None:
    labels = [a_file(tmp_path / f"label_{i}.pt", b"7" * 100) for i in range(9)]
    unknown = [a_file(tmp_path / f"unknown_{i}.pt", b"7" * 9000, content="") for i in range(9)]
    assert told([*labels, *unknown]) == []


def test_a_removed_file_is_no_duplicate(tmp_path: Path) -> None:
    scans = [a_file(tmp_path / f"sample_{i}.pt", b"x" * 5000) for i in range(2)]
    Path(scans[0].path).unlink()
    assert told(scans) == []


def test_fingerprints_grow_find_the_first_and_stop_when_full() -> None:
    seen = fingerprints.Fingerprints()
    assert all(seen.first(str(i), f"cache/\udcff{i}.pt") == "" for i in range(5000))
    assert [seen.first(str(i), "again") for i in (0, 4999)] == ["cache/\udcff0.pt", "cache/\udcff4999.pt"]
    assert seen.count == 5000
    seen.count = fingerprints.MAX_FINGERPRINTS
    assert seen.first("new", "new.pt") == ""
    assert seen.full
    assert seen.first("new", "newer.pt") == ""
