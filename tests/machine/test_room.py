"""The room of a folder: its disk's, or the memory's where the folder lies in memory."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from diagnostics.machine.host.free_space import free_space


def test_a_folder_on_a_disk_has_what_the_disk_has_free(tmp_path: Path) -> None:
    if any(part.mountpoint == str(tmp_path.anchor) and part.fstype == "tmpfs" for part in psutil.disk_partitions(True)):
        pytest.skip("the temporary folder lies in memory")
    room = free_space(tmp_path / "not" / "there" / "yet")
    assert room.limit == "free"
    assert room.bytes == pytest.approx(psutil.disk_usage(str(tmp_path)).free, rel=0.05)


def test_a_folder_in_memory_has_no_more_than_the_memory() -> None:
    shm = Path("/dev/shm")  # noqa: S108
    if not shm.is_dir():
        pytest.skip("needs /dev/shm")
    assert free_space(shm).bytes <= psutil.virtual_memory().total
