"""A run that reads its latents from a RAM disk leaves nothing there, whether it completes or is killed."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from small_run import start, ups, wait_until, write_config, write_data

SHM = Path("/dev/shm")  # noqa: S108 - what is tested; a folder with a name of its own is made in it


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    if not SHM.is_dir() or SHM.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs /dev/shm, and a temporary folder that is not on it: --basetemp")
    folder = Path(tempfile.mkdtemp(dir=SHM, prefix="ups-test-"))
    yield folder
    shutil.rmtree(folder)


def configured(folder: Path, place: Path, **training: float) -> Path:
    write_data(folder)
    stage = {"epochs": 500, "batch_size": 8} if training.pop("long", False) else {"epochs": 1, "batch_size": 8}
    return write_config(
        folder,
        cache={"ram_disk": str(place)},
        stages={"autoencoder": {"epochs": 1, "batch_size": 8}, "operator": stage},
        training={"nproc": 2, **training},
    )


def test_a_run_reads_a_copy_and_removes_it(tmp_path: Path, place: Path) -> None:
    done = ups("train", configured(tmp_path, place, workers=1))
    assert done.returncode == 0, done.stderr
    # How long the building took is told when its display ends, which may be after the copy has begun.
    steps = (
        "latent cache built in ",
        f"copying the latent cache to {place}/ups-latents-{os.getuid()}: ",
        "copied the latent",
    )
    told = [next((step for step in steps if line.startswith(step)), "") for line in done.stderr.splitlines()]
    assert sorted(filter(None, told)) == sorted(steps)
    assert told.index(steps[1]) < told.index(steps[2])
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("whom", ["a rank", "the command", "who tidies up, too"])
@pytest.mark.slow
def test_a_killed_run_leaves_nothing_or_what_the_next_run_removes(whom: str, tmp_path: Path, place: Path) -> None:
    config, output = configured(tmp_path, place, long=True), tmp_path / "output"
    process = start(["train", config], uuid.uuid4().hex, output)
    wait_until(lambda: "operator 1/500" in output.read_text())
    (copy,) = (path for root in place.iterdir() for path in root.iterdir())
    ranks = [
        child for child in psutil.Process(process.pid).children(recursive=True) if "ups.launch.rank" in child.cmdline()
    ]
    if whom == "a rank":
        ranks[0].kill()
        assert process.wait(timeout=60) == 128 + signal.SIGKILL
        assert list(place.iterdir()) == []
        return
    if whom == "who tidies up, too":
        for one in psutil.process_iter(["cmdline"]):
            if str(copy) in (one.info["cmdline"] or ()):
                one.kill()
    process.kill()
    process.wait()
    assert not psutil.wait_procs(ranks, timeout=30)[1]
    if whom == "the command":
        wait_until(lambda: not any(place.iterdir()), deadline_s=20)
        return
    assert copy.is_dir()
    other = ["output.dir=" + str(tmp_path / "other"), "stages.operator.epochs=1"]
    again = ups("train", config, *(word for key in other for word in ("--set", key)))
    assert again.returncode == 0, again.stderr
    assert f"removed {copy}, left by a run that died" in again.stderr.splitlines()
    assert list(place.iterdir()) == []


def test_a_run_without_room_on_a_named_ram_disk_is_refused(tmp_path: Path, place: Path) -> None:
    config = configured(tmp_path, place)
    (place / f"ups-latents-{os.getuid()}").mkdir()
    (place / f"ups-latents-{os.getuid()}").chmod(0o777)
    refused = ups("train", config)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-2:] == [
        f"error: {place}/ups-latents-{os.getuid()} belongs to user {os.getuid()} or others may write to it: "
        "no latents are put there",
        "  set cache.ram_disk to another folder, or to null",
    ]


def test_a_ram_disk_that_is_no_path_is_refused_by_the_configuration(tmp_path: Path, place: Path) -> None:
    refused = ups("train", configured(tmp_path, place), "--set", "cache.ram_disk=memory")
    assert refused.returncode == 2
    assert "ram_disk is 'memory': null, auto, or the absolute path of a folder is needed" in refused.stderr
