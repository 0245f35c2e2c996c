"""Files that another process writes to are left alone and named; readers hinder nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from temporary_folders import folders_above

from diagnostics.cache.repair.actions import RepairStatus
from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
from diagnostics.machine.processes.file_writers import file_uses, is_written

Fix = Callable[..., "subprocess.CompletedProcess[str]"]
WAITS = "print(flush=True); sys.stdin.read()"
OPENS = f"import sys; file = open(sys.argv[1], sys.argv[2]); {WAITS}"
# The file is mapped and no descriptor of it is left: mmap keeps one of its own.
MAPS = (
    "import mmap, os, sys; file = os.open(sys.argv[1], os.O_RDWR); kept = mmap.mmap(file, 0); os.closerange(3, 99); "
    f"{WAITS}"
)
LOCKS = f"import fcntl, sys; file = open(sys.argv[1], 'rb'); fcntl.flock(file, fcntl.LOCK_EX); {WAITS}"


@contextmanager
def process(program: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds a file until the block ends."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield other
        assert other.stdin is not None
        other.stdin.close()


@pytest.mark.parametrize(
    ("program", "arguments", "how"),
    [
        (OPENS, ("r+b",), "open for writing"),
        (OPENS, ("ab",), "open for writing"),
        (MAPS, (), "mapped for writing"),
        (LOCKS, (), "locked"),
    ],
)
def test_a_file_that_somebody_writes_to_is_left_and_named(
    cache: Path, fix: Fix, program: str, arguments: tuple[str, ...], how: str
) -> None:
    old = (cache / "cuda.pt").read_bytes()
    with process(program, cache / "cuda.pt", *arguments) as other:
        done = fix("--yes", "cache")
    assert done.returncode == 1
    assert f"left  cache/cuda.pt: {how} by pid {other.pid} (" in done.stdout
    assert "run again when it has ended" in done.stdout
    assert "4 of 5 cache files clean now" in done.stdout
    assert (cache / "cuda.pt").read_bytes() == old
    assert fix("--yes", "cache").returncode == 0


def test_a_reader_hinders_nothing(cache: Path, fix: Fix) -> None:
    with process(OPENS, cache / "cuda.pt", "rb"), process(OPENS, cache / "legacy_cuda.pt", "rb"):
        assert fix("--yes", "cache").returncode == 0


def test_a_secret_of_the_other_command_line_is_hidden(cache: Path, fix: Fix) -> None:
    with process(f"import sys; file = open(sys.argv[-1], 'ab'); {WAITS}", "--password", "hunter2", cache / "cuda.pt"):
        done = fix("--dry-run", "--json", "cache")
    assert "open for writing by pid" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr


def test_who_begins_to_write_after_the_plan_is_noticed_too(cache: Path) -> None:
    prepared = prepare([cache], RepairOptions())
    with process(OPENS, cache / "cuda.pt", "r+b") as other:
        result = carry_out(prepared, RepairOptions())
    (left,) = result.left
    assert left.plan.path == str(cache / "cuda.pt")
    assert (left.status, left.text.startswith(f"open for writing by pid {other.pid} (")) == (RepairStatus.LEFT, True)
    assert result.exit_code == 1


def test_processes_that_may_write_unseen_are_counted(cache: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    for path in (cache, *cache.rglob("*"), *folders_above(cache)):
        path.chmod(0o777)
    program = (
        "import encodings.unicode_escape, os, sys; from pathlib import Path\n"
        "from diagnostics.cache.scan.one_file import formats; formats()\n"
        "from diagnostics.cache.repair.engine import RepairOptions, prepare; os.setuid(65534)\n"
        "prepared = prepare([Path(sys.argv[1])], RepairOptions())\n"
        "print(prepared.plan.unseen > 0, *sorted({file.action for file in prepared.plan.files}))"
    )
    with process(OPENS, cache / "cuda.pt", "r+b"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(cache)], capture_output=True, text=True, check=False, timeout=60
        )
    # The kernel gives no lease to who is not the owner, and the processes of root are closed to others.
    assert done.stdout == "True append leave quarantine\n", done.stderr


def test_a_lease_tells_writers_from_readers(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert is_written(str(path)) is False
    with path.open("rb"):
        assert is_written(str(path)) is False
    with path.open("ab"):
        assert is_written(str(path)) is True


def test_own_descriptors_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    status = path.stat()
    with path.open("ab"):
        assert file_uses([(status.st_dev, status.st_ino)]).uses == {}
