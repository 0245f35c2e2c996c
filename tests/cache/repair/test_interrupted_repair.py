"""A repair that is killed, or meets an error, at any of its steps: the file is the old one or the new one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from diagnostics.cache.repair.apply import apply, stale_temporaries
from diagnostics.cache.repair.look import repair_of

INTERRUPTED = Path(__file__).parent / "interrupted.py"
Same = Callable[[Any, Any], bool]


@pytest.fixture
def sample(tmp_path: Path, tagged: Callable[..., None]) -> Path:
    path = tmp_path / "sample.pt"
    base = torch.arange(4000.0)
    tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0).reshape(3, 4), "head": base[:10]}, path)
    return path


def interrupted(sample: Path, way: str, how: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(INTERRUPTED), str(sample), str(sample.parent / "steps"), way, how]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    steps: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(steps) > 20
    return steps


def loads_on_cpu(path: Path) -> bool:
    try:
        torch.load(path, weights_only=True, mmap=True)
        torch.load(path, weights_only=True)
    except RuntimeError as error:
        if "CUDA device" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("way", ["append", "copy", "compact"])
def test_killed_at_every_step_the_file_is_old_or_new_and_the_next_repair_ends_the_work(
    way: str, sample: Path, same: Same
) -> None:
    wanted = torch.load(sample, map_location="cpu", weights_only=True)
    steps = interrupted(sample, way, "kill")
    old_or_new = []
    for step in steps:
        path = sample.parent / "steps" / f"{step['at']}.pt"
        assert step["status"] == (-9 if step["call"] else 0), step
        assert [name for name in step["beside"] if ".ups-doctor-fix-" not in name] == ["neighbour.txt"]
        assert same(torch.load(path, map_location="cpu", weights_only=True), wanted), step
        new = loads_on_cpu(path)
        old_or_new.append(new)
        if not new:
            patch = repair_of(str(path), compact=False)
            assert patch is not None
            apply(path, patch)
            assert same(torch.load(path, weights_only=True), wanted), step
    assert old_or_new == sorted(old_or_new)  # old up to one step, new from then on
    assert set(old_or_new) == {False, True}


def test_what_a_killed_copy_leaves_behind_is_found_and_nothing_else(sample: Path) -> None:
    steps = interrupted(sample, "copy", "kill")
    left = 0
    for step in steps:
        room = sample.parent / "steps" / f"room{step['at']}"
        found = [path.name for path in stale_temporaries(room)]
        assert found == [name for name in step["beside"] if name != "neighbour.txt"]
        left += len(found)
    assert left > 10


@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "EDQUOT"])
@pytest.mark.parametrize("way", ["append", "copy"])
def test_an_error_at_any_step_leaves_the_old_file_or_the_whole_new_one_and_no_other(
    way: str, how: str, sample: Path, same: Same
) -> None:
    before = sample.read_bytes()
    wanted = torch.load(sample, map_location="cpu", weights_only=True)
    for step in interrupted(sample, way, how):
        path = sample.parent / "steps" / f"{step['at']}.pt"
        assert step["beside"] == ["neighbour.txt"], step
        if step["status"] == 0:
            assert same(torch.load(path, weights_only=True), wanted), step
            continue
        assert step["said"].startswith(f"cannot repair {sample.parent}"), step
        assert path.read_bytes() == before, step
        assert path.stat().st_mtime_ns == sample.stat().st_mtime_ns, step


def test_a_file_size_limit_stops_the_append_and_the_file_is_what_it_was(sample: Path) -> None:
    before = sample.read_bytes()
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from diagnostics.cache.repair.apply import apply; from diagnostics.cache.repair.look import repair_of\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "patch = repair_of(sys.argv[1], compact=False)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
        "apply(Path(sys.argv[1]), patch)\n"
    )
    command = [sys.executable, "-c", program, str(sample), str(len(before) + 100)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1].startswith("diagnostics.core.errors.DoctorError: cannot repair ")
    assert sample.read_bytes() == before
    assert list(sample.parent.iterdir()) == [sample]
