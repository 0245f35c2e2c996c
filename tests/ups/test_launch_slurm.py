"""`ups launch slurm`: the script that it writes, what the audit says of it, and how Slurm's answers are told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
BIN = Path(sys.executable).parent


def launch(tmp_path: Path, *words: str, sbatch: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it; `sbatch` is the body of a program of that name."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    if sbatch:
        (programs / "sbatch").write_text(f"#!/bin/sh\n{sbatch}\n")
        (programs / "sbatch").chmod(0o755)
    command = [BIN / "ups", "launch", "slurm", CONFIG, "--set", f"output.dir={tmp_path}/a run", *words]
    environ = {**os.environ, "PATH": f"{programs}:/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ, cwd=tmp_path)


def test_the_script_is_bash_and_the_audit_finds_nothing_in_it(tmp_path: Path) -> None:
    done = launch(tmp_path, "--nodes", "2", "--gpus", "4", "--time", "2:00:00", "--dry-run", "--partition", "long")
    options = [line.removeprefix("#SBATCH ") for line in done.stdout.splitlines() if line.startswith("#SBATCH")]
    assert options == [
        "--job-name=quickstart", "--nodes=2", "--ntasks-per-node=1", "--time=2:00:00", "--signal=B:USR1@120",
        "--requeue", "--open-mode=append", f'--output="{tmp_path}/a run-doctor-%j.out"',
        "--gpus-per-node=4", "--partition=long",
    ]  # fmt: skip
    assert "--nproc-per-node 4" in done.stdout
    script = tmp_path / "job.sbatch"
    script.write_text(done.stdout)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert subprocess.run([BIN / "ups-doctor", "audit", "--strict", script], capture_output=True).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.sbatch", "programs"]


def test_it_is_submitted_once_and_its_number_is_told(tmp_path: Path) -> None:
    done = launch(tmp_path, "--time", "10", sbatch=f'echo "$@" >> {tmp_path}/asked; echo 4711')
    assert (done.returncode, done.stdout, done.stderr) == (
        0, f"submitted as job 4711; when it has ended: ups-doctor diagnose {tmp_path}/a run-doctor\n", "",
    )  # fmt: skip
    assert (tmp_path / "asked").read_text() == f"--parsable {tmp_path}/a run.sbatch\n"


@pytest.mark.parametrize(
    ("words", "sbatch", "said", "code"),
    [
        (("--time", "soon"), "", "error: --time 'soon' is no time\n  for example: --time 2:00:00\n", 2),
        (("--time", "10", "--partition", "a b"), "", "error: --partition 'a b' is no name of a partition\n", 2),
        (("--time", "10"), "echo invalid partition >&2; exit 1", "error: Slurm refused", 1),
    ],
)
def test_what_cannot_be_submitted_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...], sbatch: str, said: str, code: int
) -> None:
    done = launch(tmp_path, *words, sbatch=sbatch)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(said)
