from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from diagnostics.cache.file_scan import FileScan, Problem, TensorFact
from diagnostics.cache.folder_checks import mixed

Types = dict[str, tuple[str, tuple[int, ...]]]
LATENT: Types = {"latent": ("float32", (4, 16)), "nu": ("float32", ())}


def a_file(name: str, types: Types = LATENT) -> FileScan:
    facts = tuple(TensorFact(key=key, dtype=dtype, shape=shape) for key, (dtype, shape) in types.items())
    return FileScan(path=f"cache/{name}", size=1, code="C101", format="torch zip", facts=facts, tensors=len(facts))


def series(count: int, odd: dict[int, Types] | None = None) -> list[FileScan]:
    return [a_file(f"sample_{i:05d}.pt", (odd or {}).get(i, LATENT)) for i in range(count)]


def found(files: Iterable[FileScan]) -> list[tuple[str, str, str, int]]:
    run = mixed.begin()
    for file in files:
        run.add(file)
    return [(each.path, each.problem.observed, each.problem.expected, each.files) for each in run.finish()]


ODD = {
    "type": (
        {"latent": ("float64", (4, 16)), "nu": ("float32", ())},
        "latent is float64 (4, 16)",
        "latent is float32 (4, 16), as in 1,999 files",
    ),
    "shape": (
        {"latent": ("float32", (4, 15)), "nu": ("float32", ())},
        "latent is float32 (4, 15)",
        "latent is float32 (4, 16), as in 1,999 files",
    ),
    "rank": (
        {"latent": ("float32", (1, 4, 16)), "nu": ("float32", ())},
        "latent is float32 (1, 4, 16)",
        "latent is float32 (4, 16), as in 1,999 files",
    ),
    "both keys": (
        {"latent": ("float64", (4, 16)), "nu": ("float64", ())},
        "latent is float64 (4, 16); nu is float64 ()",
        "latent is float32 (4, 16); nu is float32 (), as in 1,999 files",
    ),
    "a key less": ({"latent": ("float32", (4, 16))}, "no 'nu'", "the keys that 1,999 files have"),
}


@pytest.mark.parametrize(("types", "observed", "expected"), ODD.values(), ids=ODD)
def test_one_odd_file_of_2000_is_named(types: Types, observed: str, expected: str) -> None:
    assert found(series(2000, {17: types})) == [("cache/sample_00017.pt", observed, expected, 1)]


def test_files_that_differ_in_different_ways_are_told_one_by_one() -> None:
    odd: dict[int, Types] = {
        17: {"latent": ("float64", (4, 16)), "nu": ("float32", ())},
        33: LATENT | {"nu": ("int64", ())},
    }
    odd[34] = odd[17]
    odd[70] = LATENT | {"latent": ("float32", (4, 15))}
    assert [each[:2] for each in found(series(2000, odd))] == [
        ("cache/sample_00017.pt", "sample_00017.pt, sample_00034.pt: latent is float64 (4, 16)"),
        ("cache/sample_00070.pt", "latent is float32 (4, 15)"),
        ("cache/sample_00033.pt", "nu is int64 ()"),
    ]


def test_a_clean_series_is_silent() -> None:
    assert found(series(2000)) == []


def test_samples_of_many_lengths_are_silent_and_an_odd_type_among_them_is_named() -> None:
    lengths: dict[int, Types] = {i: {"points": ("float32", (i * 7 % 501 + 1, 3))} for i in range(2000)}
    assert found(series(2000, lengths)) == []
    lengths[17] = {"points": ("float16", (40, 3))}
    lengths[18] = {"points": ("float16", (40, 3))}
    assert found(series(2000, lengths)) == [
        (
            "cache/sample_00017.pt",
            "sample_00017.pt, sample_00018.pt: points is float16 (*, 3)",
            "points is float32 (*, 3), as in 1,998 files",
            2,
        )
    ]
    lengths[17] = lengths[18] = {"points": ("float32", (3, 40))}
    assert [each[1] for each in found(series(2000, lengths))] == [
        "sample_00017.pt, sample_00018.pt: points is float32 (*, 40)"
    ]


def test_the_last_file_of_a_series_may_be_shorter_and_no_other() -> None:
    shorter: Types = {"latent": ("float32", (3, 16)), "nu": ("float32", ())}
    assert found(series(100, {99: shorter})) == []
    assert len(found(series(100, {98: shorter}))) == 1
    by_number = [a_file(f"chunk_{i}.pt", shorter if i == 100 else LATENT) for i in sorted(range(101), key=str)]
    assert found(by_number) == []


def test_two_kinds_are_no_odd_ones() -> None:
    large: Types = {"latent": ("float32", (8, 32)), "nu": ("float32", ())}
    assert found(series(2000, dict.fromkeys(range(50), large))) == []
    assert found(series(9, {3: large})) == []


def test_files_named_otherwise_are_another_series() -> None:
    other: Types = {"latent": ("float64", (1,))}
    assert found([*series(50), a_file("statistics.pt", other), a_file("val_00001.pt", other)]) == []


def test_each_folder_is_looked_at_by_itself() -> None:
    large: Types = {"latent": ("float32", (8, 32))}
    files = [replace(file, path=f"{place}/{file.path}") for place in ("a", "b") for file in series(20, {3: large})]
    assert [each[0] for each in found(files)] == ["a/cache/sample_00003.pt"] * 2 + ["b/cache/sample_00003.pt"] * 2
    assert found([*series(5, {3: large}), *files[20:25]]) == []


def test_damaged_and_left_out_files_have_no_types() -> None:
    damaged = FileScan(
        path="cache/sample_00050.pt",
        size=1,
        code="C101",
        format="torch zip",
        problems=(Problem(name="truncated-file", observed="cut"),),
    )
    left_out = FileScan(path="cache/sample_00051.pt", size=1, skipped="empty")
    assert found([*series(50), damaged, left_out]) == []


def test_lists_of_different_lengths_lack_nothing() -> None:
    keys = {i: {f"fields[{k}]": ("float32", (4,)) for k in range(3 if i % 60 else 4)} for i in range(120)}
    assert found(series(120, keys)) == []  # type: ignore[arg-type]


def test_a_hostile_folder_costs_bounded_memory() -> None:
    run = mixed.begin()
    for i in range(3000):
        types: Types = {f"key{i}-{k}": (f"type{i}", (i, k) * 40) for k in range(10)}
        run.add(a_file(f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}x{i}.pt", types))
        run.add(a_file(f"s{i}.pt", types))
    assert [*run.finish()] == []
    folder = run.check  # type: ignore[attr-defined]
    assert folder is None
