from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.folder_checks import gaps
from diagnostics.cache.folder_checks.number_series import MAX_INTERVALS, NumberSet


def told(paths: Iterable[str]) -> list[tuple[str, str, str, int]]:
    run = gaps.begin()
    for path in paths:
        run.add(FileScan(path=path, size=1, code="C101", format="torch zip"))
    return [(each.path, each.problem.observed, each.problem.expected, each.files) for each in run.finish()]


def samples(numbers: Iterable[int], template: str = "cache/sample_{:05d}.pt") -> list[str]:
    return sorted(template.format(number) for number in numbers)


def without(count: int, *missing: int) -> list[int]:
    return [number for number in range(count) if number not in missing]


def test_a_missing_sample_is_named() -> None:
    assert told(samples(without(2000, 17))) == [
        (
            "cache",
            "1 of 2000 numbers missing: sample_00017.pt",
            "sample_00000.pt to sample_01999.pt without a gap",
            1,
        )
    ]


def test_missing_ranges_are_named_and_counted() -> None:
    assert [each[1:] for each in told(samples(without(100, 17, 18, 19, 50), "cache/{}.npy"))] == [
        ("4 of 100 numbers missing: 17.npy to 19.npy, 50.npy", "0.npy to 99.npy without a gap", 4)
    ]
    many = without(2000, *range(0, 2000, 150))
    assert told(samples(many))[0][1] == (
        "13 of 1999 numbers missing: sample_00150.pt, sample_00300.pt, sample_00450.pt, sample_00600.pt, "
        "sample_00750.pt and 8 more gaps"
    )


SILENT = {
    "all there": samples(range(2000)),
    "numbers without zeros": samples(range(2000), "cache/x{}.pt"),
    "it begins at 1000": samples(range(1000, 2000)),
    "checkpoints by step": samples(range(1000, 21000, 1000), "run/ckpt_step_{}.pt"),
    "sizes": [f"cache/latents_{size}.pt" for size in (128, 16, 256, 32, 64, 8)],
    "few files": samples(without(9, 3)),
    "half of them": samples(range(0, 200, 2)),
    "a random tenth left out": samples(random.Random(1).sample(range(1000), 930)),
    "time stamps": [f"cache/{20240101000000 + i * 7}.pt" for i in range(50)],
    "hashes": [f"cache/{random.Random(i).getrandbits(128):032x}.pt" for i in range(3000)],
    "two splits in one folder": sorted(
        [*samples(without(200, 7, 8, 60), "c/train_{:03d}.pt"), *samples((7, 8, 60), "c/val_{:03d}.pt")]
    ),
}


@pytest.mark.parametrize("paths", SILENT.values(), ids=SILENT)
def test_other_names_are_silent(paths: list[str]) -> None:
    assert told(paths) == []


def test_the_number_may_stand_anywhere_and_series_may_share_a_folder() -> None:
    grid = [f"g/case_{case:02d}_t_{t:03d}.pt" for case in range(12) for t in range(30) if (case, t) != (3, 7)]
    assert told(grid) == [
        (
            "g",
            "1 of 30 numbers missing: case_03_t_007.pt",
            "case_03_t_000.pt to case_03_t_029.pt without a gap",
            1,
        )
    ]
    fields = sorted(f"g/{i:03d}_{name}.npy" for i in range(40) for name in ("p2", "u1") if (i, name) != (9, "p2"))
    assert [each[1] for each in told(fields)] == ["1 of 40 numbers missing: 009_p2.npy"]


def test_each_folder_is_looked_at_by_itself() -> None:
    paths = [*samples(without(20, 3), "a/{:03d}.pt"), *samples(range(20), "b/{:03d}.pt")]
    assert [each[0] for each in told(paths)] == ["a"]


def test_what_is_there_but_was_not_asked_about_is_not_missing(tmp_path: Path) -> None:
    paths = samples(without(20, 3), f"{tmp_path}/{{:03d}}.pt")
    assert len(told(paths)) == 1
    (tmp_path / "003.pt").touch()
    assert told(paths) == []


def test_what_the_other_half_of_a_split_holds_is_not_missing(tmp_path: Path) -> None:
    train = samples(without(40, 3, 30), f"{tmp_path}/train/{{:03d}}.pt")
    for folder in ("train", "val", "old"):
        (tmp_path / folder).mkdir()
    assert len(told(train)) == 1
    for name in ("000.pt", "003.pt", "030.pt"):
        (tmp_path / "old" / name).touch()
    assert len(told(train)) == 1, "a copy of the folder is no other half"
    for name in ("003.pt", "030.pt"):
        (tmp_path / "val" / name).touch()
    assert told(train) == []


def test_numbers_padded_otherwise_are_told() -> None:
    assert told(sorted([*samples(range(20)), "cache/sample_020.pt"])) == [
        ("cache", "sample_020.pt and sample_00000.pt are not padded alike", "one width: names then sort as numbers", 21)
    ]
    assert [each[1] for each in told(sorted([*samples(range(20)), "cache/sample_20.pt"]))] == [
        "sample_20.pt and sample_00000.pt are not padded alike"
    ]
    assert told(samples(range(95, 105), "cache/{:02d}.pt")) == [], "wider once two digits are full"


def test_files_that_are_no_cache_make_no_series() -> None:
    run = gaps.begin()
    for path in samples(without(50, 7), "src/test_{}.py"):
        run.add(FileScan(path=path, size=1, skipped="not a cache format known here"))
    assert [*run.finish()] == []


def test_numbers_are_kept_as_intervals_in_any_order() -> None:
    for seed in range(20):
        wanted = random.Random(seed).sample(range(300), 200)
        numbers = NumberSet()
        for number in [*wanted, *wanted[:50]]:
            numbers.add(number)
        missing = {number for begin, end in numbers.holes() for number in range(begin, end + 1)}
        assert numbers.count == 200
        assert missing == set(range(min(wanted), max(wanted))) - set(wanted)
        assert all((number in numbers) == (number in wanted) for number in range(-1, 301))


def test_a_million_names_take_little_memory() -> None:
    run = gaps.begin()
    scan = "cache/{}.pt".format
    for number in sorted(range(100_000), key=str):
        run.add(FileScan(path=scan(number), size=1))
    series = run.check.open[""][".pt"]  # type: ignore[attr-defined]
    assert len(series.numbers.begins) == 1
    scattered = NumberSet()
    for number in range(0, 10 * MAX_INTERVALS, 2):
        scattered.add(number)
    assert scattered.scattered
    assert len(scattered.begins) == MAX_INTERVALS + 1
