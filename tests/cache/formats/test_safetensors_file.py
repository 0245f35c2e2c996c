from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from diagnostics.cache.file_scan import FileScan, Problem, Tally, TensorFact
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "sample.safetensors"
    arrays = {"latent": np.zeros((4, 3), np.float16), "index": np.arange(5), "none": np.zeros((0, 3), np.float32)}
    save_file(arrays, path, metadata={"format": "np"})
    return path


def written(path: Path, header: object, data: bytes = b"\0" * 8) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def opens(path: Path) -> bool:
    """Returns whether the reference implementation takes the file."""
    try:
        with safe_open(path, "np") as file:
            file.keys()
    except SafetensorError:
        return False
    return True


def names(path: Path) -> list[str]:
    return [problem.name for problem in scan_file(str(path)).problems]


def test_a_file_is_described_and_has_no_device_of_its_own(good: Path) -> None:
    assert scan_file(str(good)) == FileScan(
        path=str(good),
        size=good.stat().st_size,
        code="C104",
        format="safetensors",
        devices={"cpu": Tally(storages=3, bytes=64)},
        dtypes={
            "int64": Tally(storages=1, bytes=40),
            "float32": Tally(storages=1, bytes=0),
            "float16": Tally(storages=1, bytes=24),
        },
        tensors=3,
        facts=(
            TensorFact(key="index", dtype="int64", shape=(5,), bytes=40, storage_bytes=40),
            TensorFact(key="none", dtype="float32", shape=(0, 3)),
            TensorFact(key="latent", dtype="float16", shape=(4, 3), bytes=24, storage_bytes=24),
        ),
    )


def test_a_file_cut_at_any_length_is_never_clean(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    path = tmp_path / "cut.safetensors"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        # The first nine bytes are what it is recognised by.
        assert names(path) == ["truncated-file" if length == 0 or length > 9 else "corrupt-file"], length


def test_a_byte_too_many_is_corrupt_as_it_is_for_the_reference(good: Path) -> None:
    good.write_bytes(good.read_bytes() + b"\0")
    assert not opens(good)
    assert names(good) == ["corrupt-file"]


def test_a_cut_file_says_how_much_is_missing(good: Path) -> None:
    size = good.stat().st_size
    good.write_bytes(good.read_bytes()[:-3])
    assert scan_file(str(good)).problems == (
        Problem(
            name="truncated-file", observed=f"{size - 3} bytes", expected=f"{size} bytes for 3 tensors", place="data"
        ),
    )


HEADERS: dict[str, object] = {
    "no tensors": ({}, b""),
    "metadata alone": ({"__metadata__": {"format": "pt"}}, b""),
    "no metadata": ({"__metadata__": None, "a": F32}, b"\0" * 8),
    "more in an entry": ({"a": {**F32, "more": [1, {"b": None}]}}, b"\0" * 8),
    "padded": (json.dumps({"a": F32}).encode() + b"     ", b"\0" * 8),
    "no name": ({"": F32}, b"\0" * 8),
    "metadata of numbers": ({"__metadata__": {"a": 1}, "a": F32}, b"\0" * 8),
    "metadata is a list": ({"__metadata__": ["a"], "a": F32}, b"\0" * 8),
    "hole": ({"a": F32, "b": {**F32, "data_offsets": [12, 20]}}, b"\0" * 20),
    "hole at the start": ({"a": {**F32, "data_offsets": [4, 12]}}, b"\0" * 12),
    "overlap": ({"a": F32, "b": {**F32, "data_offsets": [4, 12]}}, b"\0" * 12),
    "backwards": ({"a": {**F32, "data_offsets": [8, 0]}}, b"\0" * 8),
    "negative": ({"a": {**F32, "data_offsets": [-8, 0]}}, b"\0" * 8),
    "half a number": ({"a": {**F32, "shape": [2.0]}}, b"\0" * 8),
    "truth as number": ({"a": {**F32, "shape": [True]}}, b"\0" * 8),
    "wrong shape": ({"a": {**F32, "shape": [3]}}, b"\0" * 8),
    "endless shape": ({"a": {**F32, "shape": [2**40, 2**40]}}, b"\0" * 8),
    "giant number": ({"a": {**F32, "shape": [10**50]}}, b"\0" * 8),
    "unknown type": ({"a": {**F32, "dtype": "F33"}}, b"\0" * 8),
    "half a byte": ({"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}, b"\0" * 2),
    "missing offsets": ({"a": {"dtype": "F32", "shape": [2]}}, b"\0" * 8),
    "three offsets": ({"a": {**F32, "data_offsets": [0, 4, 8]}}, b"\0" * 8),
    "twice another": (b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{}}', b"\0"),
    "not a number": ({"a": {**F32, "more": float("nan")}}, b"\0" * 8),
    "no unicode": (b'{"a\xff":1}', b""),
    "half a pair": (b'{"a\\ud800":%b}' % json.dumps(F32).encode(), b"\0" * 8),
    "not closed": (b'{"a":', b""),
    "two objects": (b"{}{}", b""),
    "a list": (b"{" + b"[" * 50, b""),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_is_judged_as_the_reference_judges_it(tmp_path: Path, kind: str) -> None:
    header, data = HEADERS[kind]  # type: ignore[misc]
    path = written(tmp_path / "odd.safetensors", header, data)
    assert names(path) == ([] if opens(path) else ["corrupt-file"])


def test_a_key_that_stands_there_twice_is_corrupt_though_the_reference_takes_the_second(tmp_path: Path) -> None:
    entry = json.dumps(F32).encode()
    path = written(tmp_path / "twice.safetensors", b'{"a":%b,"a":%b}' % (entry, entry))
    assert opens(path)
    assert [problem.observed for problem in scan_file(str(path)).problems] == [
        "the header is no JSON: a key stands in it twice"
    ]


def test_a_header_as_deep_as_it_is_long_is_corrupt(tmp_path: Path) -> None:
    path = written(tmp_path / "deep.safetensors", b'{"a":' + b"[" * 200_000)
    assert names(path) == ["corrupt-file"]


def test_mutated_files_get_the_verdict_of_the_reference(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    path = tmp_path / "mutated.safetensors"
    for seed in range(500):
        rng = random.Random(seed)
        changed = bytearray(whole)
        at = rng.randrange(8, len(whole))
        changed[at : at + rng.randrange(2)] = rng.choice((b"0", b"1", b"9", b'"', b"[", b"}", b"F", b"\xff", b" "))
        path.write_bytes(changed)
        assert (names(path) == []) == opens(path), seed


def test_a_header_over_the_limit_of_the_reference_is_corrupt_and_a_large_one_is_not_examined(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    text = b'{"__metadata__":{"a":"' + b"x" * (8 << 20) + b'"}}'
    written(path, text, b"")
    assert opens(path)
    assert scan_file(str(path)).problems == (
        Problem(
            name="not-examined",
            observed=f"a header of {len(text):,} bytes",
            expected="up to 8,388,608",
            place="header",
            severity=Severity.WARNING,
        ),
    )
    path.write_bytes((100_000_001).to_bytes(8, "little") + b'{"')
    assert names(path) == ["corrupt-file"]


GREEDY = {
    "lists": b'{"a":[' + b"[]," * 2_000_000 + b"1]}",
    "just under": b'{"a":[' + b"{}," * 299_000 + b'"x",' * 500_000 + b'"\\ud83d\\ude00' + b"y" * 5_400_000 + b'"]}',
}
MEASURE = """
import resource, sys
from diagnostics.cache.scan.one_file import scan_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(scan_file(sys.argv[1]).problems[0].name)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", GREEDY)
def test_a_header_made_to_fill_the_memory_stays_within_256_mib(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "greedy.safetensors", GREEDY[kind])
    result = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    name, grown_kib = result.stdout.split()
    assert name == "corrupt-file"
    assert int(grown_kib) < 256 << 10
