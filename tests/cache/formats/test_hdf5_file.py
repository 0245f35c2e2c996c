from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.formats.hdf5_file import lookup3
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

KINDS: dict[str, dict[str, object]] = {
    "version 0": {"libver": "earliest"},
    "version 2": {"libver": "v108"},
    "version 3": {"libver": "latest"},
    "user block": {"userblock_size": 1024},
    "pages": {"fs_strategy": "page"},
}
WRITER = """
import os, sys, h5py, numpy
path, libver, flush, swmr = sys.argv[1:]
file = h5py.File(path, "w", libver=libver)
file["a"] = numpy.zeros(1000)
if flush == "flush":
    file.flush()
file["b"] = numpy.zeros(1000)
if swmr == "swmr":
    file.swmr_mode = True
os._exit(0)  # as a kill does: nothing is flushed or closed
"""


@pytest.fixture(params=KINDS)
def good(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "solutions.h5"
    with h5py.File(path, "w", **KINDS[request.param]) as file:
        file["u"] = np.zeros((50, 40))
        file["deep/er/v"] = np.arange(7)
    return path


def killed_writer(path: Path, libver: str, *, flush: bool, swmr: bool = False) -> Path:
    argv = [str(path), libver, "flush" if flush else "", "swmr" if swmr else ""]
    subprocess.run([sys.executable, "-c", WRITER, *argv], check=True)
    return path


def problems(path: Path) -> list[tuple[str, str]]:
    return [(problem.name, problem.observed) for problem in scan_file(str(path)).problems]


def opens(path: Path) -> bool:
    try:
        with h5py.File(path, "r") as file:
            return "b" in file or "u" in file
    except (OSError, RuntimeError, KeyError):
        return False


def test_a_closed_file_is_clean(good: Path) -> None:
    size = good.stat().st_size
    assert scan_file(str(good)) == FileScan(path=str(good), size=size, code="C106", format="hdf5")


def test_a_file_cut_at_any_length_is_never_clean_and_the_library_agrees(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    path = tmp_path / "cut.h5"
    for length in [*range(0, min(3000, len(whole)), 7), *range(3000, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert not opens(path), length
        assert [name for name, _ in problems(path)] in (["truncated-file"], ["corrupt-file"]), length
    path.write_bytes(whole[:-1])
    assert scan_file(str(path)).problems == (
        Problem(
            name="truncated-file",
            observed=f"{len(whole) - 1} bytes",
            expected=f"{len(whole)} bytes, the end that the superblock names",
            place=f"byte {len(whole) - 1}",
        ),
    )


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_file_whose_writer_was_killed_before_a_flush_cannot_be_opened(tmp_path: Path, libver: str) -> None:
    path = killed_writer(tmp_path / "killed.h5", libver, flush=False)
    assert not opens(path)
    observed = f"marked as open for writing, {path.stat().st_size} bytes; it cannot be opened"
    assert scan_file(str(path)).problems == (
        Problem(name="not-closed", observed=observed, expected="closed by its writer", place="superblock"),
    )


def test_a_file_whose_writer_was_killed_after_a_flush_lacks_what_came_later(tmp_path: Path) -> None:
    path = killed_writer(tmp_path / "killed.h5", "earliest", flush=True)
    with h5py.File(path, "r") as file:
        assert list(file) == ["a"]
    (problem,) = scan_file(str(path)).problems
    assert (problem.name, problem.severity) == ("not-closed", Severity.WARNING)
    assert problem.observed.endswith("; it opens as it was at its last flush, 10048 bytes")


def test_a_whole_file_that_an_old_library_left_marked_is_clean(tmp_path: Path) -> None:
    path = tmp_path / "matlab.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file["u"] = np.zeros(100)
    marked = bytearray(path.read_bytes())
    marked[20] |= 1
    path.write_bytes(marked + b"\0" * 6)
    assert opens(path)
    assert problems(path) == []


def test_the_newer_format_refuses_a_file_that_was_not_closed_though_it_was_flushed(tmp_path: Path) -> None:
    path = killed_writer(tmp_path / "killed.h5", "latest", flush=True)
    assert not opens(path)
    assert [problem.severity for problem in scan_file(str(path)).problems] == [Severity.ERROR]


def test_a_file_that_is_written_for_readers_is_a_warning(tmp_path: Path) -> None:
    path = killed_writer(tmp_path / "live.h5", "latest", flush=True, swmr=True)
    with h5py.File(path, "r", swmr=True) as file:
        assert list(file) == ["a", "b"]
    (problem,) = scan_file(str(path)).problems
    assert (problem.name, problem.severity) == ("not-closed", Severity.WARNING)
    assert problem.observed.endswith("; it opens with swmr=True only")


def test_a_file_without_its_root_group_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "rootless.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file["u"] = np.zeros(100)
    whole = bytearray(path.read_bytes())
    whole[48:52] = b"\0" * 4
    path.write_bytes(whole)
    assert not opens(path)
    assert scan_file(str(path)).problems == (
        Problem(
            name="corrupt-file",
            observed="the root group is not there",
            expected="its object header",
            place="byte 48",
        ),
    )


@pytest.mark.parametrize("driver", ["family", "split"])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_the_first_file_of_a_set_is_not_measured_alone(tmp_path: Path, driver: str, libver: str) -> None:
    options = {"memb_size": 4096} if driver == "family" else {}
    with h5py.File(tmp_path / "set%d.h5", "w", driver=driver, libver=libver, **options) as file:
        file["u"] = np.zeros(10_000)
    first = next(path for path in sorted(tmp_path.iterdir()) if path.name.startswith(("set0", "set%d.h5-m")))
    scan = scan_file(str(first))
    assert (scan.format, scan.problems) == ("hdf5", ())


def test_bytes_after_the_end_are_a_warning_from_a_page_on(good: Path) -> None:
    size = good.stat().st_size
    os.truncate(good, size + 4096)
    assert problems(good) == []
    os.truncate(good, size + 4097)
    assert opens(good)
    assert [problem.severity for problem in scan_file(str(good)).problems] == [Severity.WARNING]


SPOILED: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 5000),
    "text": lambda path: path.write_text("not found\n"),
    "signature alone": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n"),
    "version 9": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n\x09" + b"\0" * 100),
    "wide addresses": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n\x03\xff\xff\0" + b"\0" * 1000),
    "no addresses": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 1000),
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("empty", "truncated-file"),
        ("zeros", "truncated-file"),
        ("text", "corrupt-file"),
        ("signature alone", "truncated-file"),
        ("version 9", "corrupt-file"),
        ("wide addresses", "corrupt-file"),
        ("no addresses", "corrupt-file"),
    ],
)
@pytest.mark.parametrize("ending", [".h5", ".hdf5"])
def test_a_file_that_only_its_name_makes_hdf5_is_reported(
    tmp_path: Path, ending: str, kind: str, expected: str
) -> None:
    path = tmp_path / f"spoiled{ending}"
    SPOILED[kind](path)
    assert not opens(path)
    assert [name for name, _ in problems(path)] == [expected]


def test_no_superblock_that_the_library_takes_alarms_and_any_other_is_answered(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    start = whole.index(b"\x89HDF")
    path = tmp_path / "mutated.h5"
    for seed in range(300):
        rng = random.Random(seed)
        changed = bytearray(whole)
        changed[start + 8 + rng.randrange(56)] ^= rng.randrange(1, 256)
        path.write_bytes(changed)
        scan = scan_file(str(path))
        errors = [problem for problem in scan.problems if problem.severity is Severity.ERROR]
        assert not (errors and opens(path)), (seed, errors)


def test_the_checksum_is_that_of_its_author() -> None:
    # From the driver of lookup3.c.
    assert (lookup3(b""), lookup3(b"Four score and seven years ago")) == (0xDEADBEEF, 0x17770551)
