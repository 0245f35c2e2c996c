from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from warm_python import doctor

WRITER = Path(__file__).parents[2] / "zoo" / "cache_writer.py"
DOCTOR = (sys.executable, "-m", "diagnostics")
COMMAND = (sys.executable, "-c", "import sys; from diagnostics.cli import main; main()", "fix-cache")


@pytest.fixture(scope="session")
def torch_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that a real torch wrote, read-only for the tests."""
    folder = tmp_path_factory.mktemp("torch-files")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, env=environment, timeout=600)
    return folder


@pytest.fixture
def cache(torch_files: Path, tmp_path: Path) -> Path:
    """`tmp_path/cache`: two clean files, two to append to, one to copy, one cut off, one unsafe, in two folders."""
    folder = tmp_path / "cache"
    (folder / "val").mkdir(parents=True)
    for name in ("clean.pt", "cuda.pt", "legacy_cuda.pt", "array.npy"):
        shutil.copy2(torch_files / name, folder)
    shutil.copy2(torch_files / "mixed.pt", folder / "val")
    shutil.copy2(torch_files / "unsafe.pt", folder / "val")
    (folder / "val" / "cut.pt").write_bytes((torch_files / "cuda.pt").read_bytes()[:900])
    (folder / "notes.txt").write_text("not a cache file")
    return folder


Fix = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def fix(tmp_path: Path) -> Fix:
    """Runs `ups-doctor fix-cache ARGUMENTS` in tmp_path, without a terminal; by a fork unless options are given."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        if not options:
            ended = doctor("fix-cache", *map(str, arguments), env=os.environ, cwd=tmp_path, deadline_s=120)
            said = (ended.stdout.decode(), ended.stderr.decode())
            return subprocess.CompletedProcess(ended.args, ended.returncode, *said)
        command = [*COMMAND, *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
            stdin=subprocess.DEVNULL, **options,
        )  # fmt: skip

    return run


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """A folder on another file system than tmp_path."""
    folder = Path(f"/dev/shm/ups-test-{os.getpid()}")  # noqa: S108 - shared memory is the other file system
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting needs root: sudo python -m pytest tests/cache/fix_cache")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
