"""The launcher of the job's Python: there, missing, or shadowed by a torchrun of another Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes import FailingChild, FakeChild, child_result, fake_machine, preflight_config
from whole_finding import told

from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.preflight.host import torchrun_found


def torchrun(folder: Path, interpreter: str) -> Path:
    """Writes a torchrun as pip does; returns its folder."""
    folder.mkdir()
    script = folder / "torchrun"
    script.write_text(f"#!{interpreter}\nfrom torch.distributed.run import main\nmain()\n")
    script.chmod(0o755)
    return folder


def told_of(path: Path, *, python: str = sys.executable) -> str:
    machine = fake_machine(child=GroupChild(), environ={"PATH": str(path)})
    return told(torchrun_found.probe(machine, preflight_config(Path(), python=python)).findings)


def test_a_torchrun_of_another_python_is_named(tmp_path: Path) -> None:
    folder = torchrun(tmp_path / "bin", "/opt/conda/bin/python3.11")
    assert told_of(folder) == (
        f"""WARNING P109 torchrun-of-another-python at {folder}/torchrun
torchrun on PATH ({folder}/torchrun) starts ranks under /opt/conda/bin/python3.11, not under {sys.executable}
saw /opt/conda/bin/python3.11 by head -1 {folder}/torchrun, not {sys.executable}
fix: name the interpreter, and its launcher follows
$ {sys.executable} -m torch.distributed.run --nproc-per-node N train.py"""
    )


@pytest.mark.parametrize(
    "interpreter",
    [sys.executable, f"{sys.prefix}/bin/python3", "/bin/sh"],
    ids=["the same", "another name of the same", "a wrapper that chooses when it runs"],
)
def test_a_torchrun_that_may_be_the_jobs_own_is_silent(interpreter: str, tmp_path: Path) -> None:
    assert told_of(torchrun(tmp_path / "bin", interpreter)) == ""


def test_no_torchrun_on_path_is_no_fault(tmp_path: Path) -> None:
    assert told_of(tmp_path) == ""


def test_a_python_without_torch_has_no_launcher(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without site-packages
    python.chmod(0o755)
    assert told_of(tmp_path, python=str(python)) == (
        f"""ERROR P109 launcher-missing at {python}
{python} has no torch.distributed.run: no launcher can start ranks
saw no torch by {python} -m torch.distributed.run --help, not its help
fix: name the job's own interpreter, or install torch into this one
$ ups-doctor preflight --python /path/to/environment/bin/python
$ {python} -m pip install torch"""
    )


@pytest.mark.parametrize(
    ("child", "said"),
    [
        (FailingChild(), "cannot start /opt/job/bin/python: Permission denied"),
        (
            FakeChild(child_result("", stderr="Fatal Python error: init_fs_encoding", returncode=1)),
            "Fatal Python error",
        ),
    ],
)
def test_a_python_that_does_not_run_is_named(child: FailingChild | FakeChild, said: str) -> None:
    [finding] = torchrun_found.probe(fake_machine(child=child), preflight_config(Path())).findings
    assert finding.name == "launcher-missing"
    assert finding.evidence[0].observed.startswith(said)
