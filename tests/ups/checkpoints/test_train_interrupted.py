"""Ctrl-C and SIGTERM in each phase, and a rank that dies in the middle: quick, quiet, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from small_run import (
    clean_environment,
    interrupt,
    processes_marked,
    ranks_of,
    start,
    start_from_cold,
    ups,
    wait_until,
    write_config,
    write_data,
)
from warm_python import python

from ups.launch.ranks_folder import ranks_folder, sweep

ENDLESS = {"epochs": 100_000, "batch_size": 8}
SHORT = {"epochs": 1, "batch_size": 8}


def log_says(log: Path, text: str) -> bool:
    return text in log.read_text()


@pytest.mark.parametrize(
    ("phase", "number", "code"),
    [("launch", signal.SIGINT, 130), ("autoencoder", signal.SIGINT, 130), ("operator", signal.SIGHUP, 129)],
)
def test_a_signal_ends_all_ranks_within_seconds(tmp_path: Path, phase: str, number: int, code: int) -> None:
    write_data(tmp_path)
    first = SHORT if phase == "operator" else ENDLESS
    config = write_config(tmp_path, stages={"autoencoder": first, "operator": ENDLESS}, training={"workers": 1})
    log, mark = tmp_path / "log", f"{phase}-{os.getpid()}"
    begin = start_from_cold if phase == "launch" else start  # it meets ranks that import
    process = begin(["train", config, "--no-preflight"], mark, log)
    wait_until(lambda: len(ranks_of(mark)) == 2 if phase == "launch" else log_says(log, f"{phase} 1/"))
    began = time.monotonic()
    assert interrupt(process, number) == code
    wait_until(lambda: not processes_marked(mark), deadline_s=10)
    assert time.monotonic() - began < 15
    said = log.read_text()
    assert "Traceback" not in said
    assert "completed" not in said
    assert f"stopped by signal {number:d}: all ranks were ended" in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, 137), (signal.SIGSEGV, 139)])
def test_a_rank_that_dies_is_named_and_ends_the_run(tmp_path: Path, number: int, code: int) -> None:
    write_data(tmp_path)
    config = write_config(tmp_path, stages={"autoencoder": ENDLESS})
    log, mark = tmp_path / "log", f"die-{number}-{os.getpid()}"
    process = start(["train", config, "--no-preflight"], mark, log)
    wait_until(lambda: log_says(log, "autoencoder 1/"))
    os.kill(ranks_of(mark)[1], number)
    assert process.wait(timeout=30) == code
    wait_until(lambda: not processes_marked(mark), deadline_s=10)
    said = log.read_text()
    assert f"error: rank 1 was killed by signal {int(number)}" in said
    assert "completed" not in said
    assert "Traceback" not in said


def test_a_loss_that_is_not_finite_stops_all_ranks_and_names_the_one(tmp_path: Path) -> None:
    write_data(tmp_path)
    architecture = tmp_path / "mine.py"
    architecture.write_text(
        "import os, torch\n"
        "class Mine(torch.nn.Module):\n"
        "    def __init__(self, config, *, latent_dim, **rest):\n"
        "        super().__init__()\n"
        "        self.layer, self.calls = torch.nn.Linear(latent_dim, latent_dim), 0\n"
        "    def forward(self, z, cond):\n"
        "        self.calls += self.training\n"
        "        bad = self.calls == 3 and os.environ['RANK'] == '1'\n"
        "        return self.layer(z) * (float('nan') if bad else 1.0)\n"
    )
    done = ups("train", write_config(tmp_path, operator={"architecture": f"{architecture}:Mine"}), "--no-preflight")
    assert done.returncode == 1
    assert (
        "error: the loss of rank 1 is not finite in stage operator at step 3 (epoch 0, batch 2): "
        "all ranks stop, and the last checkpoint is good"
    ) in done.stderr.splitlines()
    assert "completed" not in done.stdout


def test_under_torchrun_the_command_takes_part_as_a_rank_and_starts_none(tmp_path: Path) -> None:
    write_data(tmp_path, samples=6, frames=2)
    program = tmp_path / "main.py"
    program.write_text("from ups.cli import main\nmain()\n")
    done = python(
        "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program,
        "train", write_config(tmp_path), "--no-preflight", env=clean_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "RANK is set: started by a launcher, taking part as one of its 2 ranks" in done.stderr.splitlines()
    assert (tmp_path / "run/checkpoints/best.pt").exists()


@pytest.mark.parametrize("watched", [False, True])
def test_a_command_killed_outright_takes_its_ranks_and_its_folder_with_it(tmp_path: Path, watched: bool) -> None:
    """Ranks that lived on would write into the run that --resume goes on with."""
    write_data(tmp_path)
    config = write_config(tmp_path, stages={"autoencoder": ENDLESS})
    log, mark, temporary = tmp_path / "log", f"killed-{watched}-{os.getpid()}", tmp_path / "temporary"
    temporary.mkdir()
    environ = {"TMPDIR": str(temporary), "UPS_NO_DOCTOR": "" if watched else "1"}
    environ["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path / "torch")  # torch makes it, and keeps it for all runs
    begin = start_from_cold if watched else start
    process = begin(["train", config, "--no-preflight"], mark, log, cwd=tmp_path, environ=environ)
    try:
        wait_until(lambda: log_says(log, "autoencoder 1/"))
        assert [path.name.partition("-ranks-")[0] for path in temporary.iterdir()] == ["ups"]
    finally:
        process.kill()
    assert process.wait(timeout=20) == -signal.SIGKILL
    wait_until(lambda: not processes_marked(mark), deadline_s=30)
    assert list(temporary.iterdir()) == []


def test_folders_of_dead_launchers_are_swept_and_those_of_living_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "ups-ranks-dead").mkdir()
    (tmp_path / "ups-ranks-notes.txt").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ups-ranks-link").symlink_to(tmp_path / "elsewhere")
    with ranks_folder() as living:
        assert sweep() == []
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
            ["elsewhere", "ups-ranks-link", "ups-ranks-notes.txt", living.name]
        )
    assert not living.exists()
