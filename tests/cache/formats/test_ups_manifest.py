"""C110: a cache's manifest against the files beside it; manifests of anything else are left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diagnostics.cache.scan.engine import scan
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

PROJECT = Path(__file__).parents[3]
SKIPPED = "not a cache format known here"


class Cache:
    """A small latent cache as `ups cache build` leaves it."""

    def __init__(self, folder: Path, layout: str = "npy") -> None:
        self.folder, self.path = folder, folder / "manifest.json"
        for name, samples in (("train_u", 6), ("validation_u", 2)):
            np.save(folder / f"{name}.npy", np.ones((samples, 3, 2, 4), np.float32))
        self.content: dict[str, Any] = {
            "format": 2,
            "layout": layout,
            "task": "advection1d",
            "data": {"file": "x.hdf5", "bytes": 1, "modified_ns": 2},
            "normalisation": "a" * 64,
            "encoder": "b" * 64,
            "dtype": "float32",
            "splits": {"train": list(range(6)), "validation": [6, 7]},
            "shapes": {"train_u": [6, 3, 2, 4], "validation_u": [2, 3, 2, 4]},
            "files": {path.name: path.stat().st_size for path in sorted(folder.glob("*.npy"))},
        }
        self.write()

    def write(self, **changes: Any) -> None:
        self.path.write_text(json.dumps(self.content | changes, indent=1))

    def problems(self) -> list[tuple[str, str, Severity]]:
        found = scan_file(str(self.path))
        assert (found.code, found.format, found.skipped) == ("C110", "cache manifest", "")
        return [(problem.name, problem.observed, problem.severity) for problem in found.problems]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def test_a_whole_cache_has_no_problem(cache: Cache) -> None:
    assert cache.problems() == []
    assert scan([cache.folder]).exit_code == 0


def test_a_manifest_of_the_first_format_is_understood(cache: Cache) -> None:
    shapes = {f"{name}.npy": shape for name, shape in cache.content["shapes"].items()}
    cache.write(format=1, shapes=shapes)
    assert cache.problems() == []
    cache.write(format=1, shapes=shapes | {"train_u.npy": [6, 3, 2, 5]})
    assert [name for name, *_ in cache.problems()] == ["stale-cache"]


def test_files_that_are_missing_or_have_another_size_are_named(cache: Cache) -> None:
    (cache.folder / "validation_u.npy").unlink()
    os.truncate(cache.folder / "train_u.npy", 700)
    text = "2 of 2 files: train_u.npy has 700 bytes, not 704; also validation_u.npy"
    assert cache.problems() == [("manifest-mismatch", text, Severity.ERROR)]
    result = scan([cache.folder])
    assert result.exit_code == 1
    assert "1 of 2 cache files are manifests whose files are missing or have another size" in [
        finding.title for finding in result.findings
    ]


def test_an_array_of_another_build_under_the_same_size_is_stale(cache: Cache) -> None:
    np.save(cache.folder / "train_u.npy", np.ones((6, 3, 4, 4), np.float16))
    text = "train_u.npy is float16 (6, 3, 4, 4), not float32 (6, 3, 2, 4)"
    assert cache.problems() == [("stale-cache", text, Severity.ERROR)]


def test_cache_files_that_it_does_not_name_are_a_warning(cache: Cache) -> None:
    np.save(cache.folder / "train_v.npy", np.ones(3))
    (cache.folder / "notes.txt").write_text("not a cache file")
    assert cache.problems() == [
        ("unlisted-file", "1 cache files that it does not name: train_v.npy", Severity.WARNING),
    ]
    assert scan([cache.folder]).exit_code == 0


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b", "", "x\0y"])
def test_a_name_that_leads_out_of_the_folder_is_told_and_not_opened(cache: Cache, name: str) -> None:
    cache.write(files=cache.content["files"] | {name: 3})
    ((problem, observed, severity),) = cache.problems()
    assert (problem, severity) == ("unsafe-path", Severity.ERROR)
    assert observed.startswith("1 paths lead out of the folder: ")


def test_a_manifest_that_was_cut_is_told(cache: Cache) -> None:
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[: len(whole) // 2])
    ((name, observed, _),) = cache.problems()
    assert (name, observed[:15]) == ("corrupt-file", "it is no JSON: ")


def test_any_cutting_of_a_manifest_gives_a_finding_or_is_left_out(cache: Cache) -> None:
    whole = cache.path.read_bytes()
    for length in range(0, len(whole) - 3, 9):
        cache.path.write_bytes(whole[:length])
        found = scan_file(str(cache.path))
        assert found.problems or found.skipped, length


FOREIGN = {
    "web app": {"name": "app", "icons": [{"src": "a.png", "sizes": "1x1"}], "start_url": "/"},
    "bundler": {"files": {"main.js": "/static/main.123.js"}, "entrypoints": ["main.js"]},
    "list": {"files": ["train_u.npy", "validation_u.npy"]},
    "line counts": {"files": {"train_u.npy": 17, "b.npy": 4}},
    "versions": {"files": {"a": 1, "b": 2}},
    "package": {"name": "x", "version": "1.0.0", "files": ["dist"]},
    "empty": {"files": {}},
    "negative": {"files": {"train_u.npy": -704}},
    "true": {"files": {"train_u.npy": True}},
    "hugging face index": {"metadata": {"total_size": 3}, "weight_map": {"w": "model-1.safetensors"}},
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_manifests_of_other_programs_are_left_out(cache: Cache, kind: str) -> None:
    cache.path.write_text(json.dumps(FOREIGN[kind]))
    found = scan_file(str(cache.path))
    assert (found.skipped, found.problems) == (SKIPPED, ()) or found.code == "C109"


def test_a_table_of_other_names_and_true_sizes_is_a_manifest_too(cache: Cache) -> None:
    files = cache.content["files"] | {"gone.pt": 12}
    cache.path.write_text(json.dumps({"files": files}))
    assert cache.problems() == [("manifest-mismatch", "1 of 3 files: gone.pt is missing", Severity.ERROR)]


HOSTILE = {
    "deep": b'{"files": ' + b'{"a":' * 50_000,
    "deep list": b'{"files": ' + b"[" * 90_000,
    "many lists": b'{"files": [' + b"[]," * 4_000_000 + b"1]}",
    "many numbers": b'{"files": [' + b"12345," * 2_600_000 + b"1]}",
    "long number": b'{"files": {"a": ' + b"9" * 5_000_000 + b"}}",
    "no text": b'{"files": "\xff\xfe\xff"}',
    "lone surrogate": b'{"files": {"\\ud800": 3}}',
    "nan": b'{"files": {"a": NaN, "b": Infinity}}',
    "too large": b'{"files": "' + b"a" * (17 << 20) + b'"}',
}


MEASURED = """
import resource, sys
from diagnostics.cache.scan.one_file import scan_file
scan_file(sys.argv[0])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    found = scan_file(path)
    print(found.skipped, found.problems)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def test_hostile_text_costs_little_and_is_left_out(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(len(HOSTILE))]
    for path, text in zip(paths, HOSTILE.values(), strict=True):
        path.write_bytes(text)
    words = [sys.executable, "-c", MEASURED, *map(str, paths)]
    *said, mebibytes = subprocess.check_output(words, text=True, timeout=60, cwd=PROJECT).splitlines()
    assert said == [f"{SKIPPED} ()"] * len(HOSTILE)
    assert int(mebibytes) < 200


def test_a_manifest_of_a_hundred_thousand_samples_is_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    files = {f"train_u_{number:05d}.pt": 12_345_678 for number in range(100_000)}
    cache.write(files=files, splits={"train": list(range(100_000)), "validation": []})
    ((name, observed, _), *_) = cache.problems()
    assert name == "manifest-mismatch"
    assert observed.startswith("100000 of 100000 files: train_u_00000.pt is missing; also train_u_00001.pt, ")
    assert len(observed) < 250


def test_one_too_large_to_be_parsed_says_so(cache: Cache) -> None:
    cache.write(splits={"train": [7] * 1_200_000})
    assert cache.problems() == [
        ("not-examined", f"{cache.path.stat().st_size:,} bytes of JSON", Severity.WARNING),
    ]
