from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutations import mutated

PROJECT = Path(__file__).parents[3]
SEEDS = PROJECT / "tests" / "zoo" / "cache_seeds.py"
FUZZ = PROJECT / "tests" / "benchmarks" / "cache_fuzz.py"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, str(SEEDS), str(folder)], check=True, env=environment, timeout=600)
    return folder


def fuzzed(seeds: Path, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ), "--jobs", "1", "--seeds", str(seeds), "--failures", str(tmp_path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_some_thousand_mutated_files_are_scanned_without_exception_hang_or_excess(seeds: Path, tmp_path: Path) -> None:
    result = fuzzed(seeds, tmp_path, "--inputs", "3000", "--seed", "6")
    assert (result.returncode, '"failures": 0,' in result.stdout) == (0, True), result.stdout + result.stderr


def test_the_same_number_gives_the_same_input(seeds: Path) -> None:
    read = {path.name: path.read_bytes() for path in seeds.iterdir() if path.is_file()}
    assert [mutated(read, number) for number in range(200)] == [mutated(read, number) for number in range(200)]
    assert mutated(read, 7, salt=1) != mutated(read, 7, salt=2)


def test_a_scan_that_raises_is_saved_and_named(seeds: Path, tmp_path: Path) -> None:
    # The failing twin: a format that takes every file and has no mercy.
    broken = tmp_path / "broken.py"
    broken.write_text(
        f"import sys; sys.argv[0] = {str(FUZZ)!r}; sys.path[:0] = [{str(FUZZ.parent)!r}]\n"
        "import cache_fuzz\n"
        "def scan_file(path, deep): raise RecursionError('too deep')\n"
        "cache_fuzz.scan_file = scan_file\n"
        "cache_fuzz.work(cache_fuzz._options())\n"
    )
    (tmp_path / "folder").mkdir()
    arguments = [
        "--inputs",
        "1",
        "--seeds",
        seeds,
        "--failures",
        tmp_path / "failures",
        "--folder",
        tmp_path / "folder",
    ]
    result = subprocess.run(
        [sys.executable, str(broken), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert '"what": "RecursionError: too deep"' in result.stdout, result.stderr
    (trace,) = (tmp_path / "failures").glob("0-*.txt")
    assert trace.read_text().startswith("RecursionError: too deep\nTraceback")
