"""The probe of torch's own folders: quiet where they can be written, a warning a variable where not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeDisks, broken_machine, fake_machine, preflight_config
from whole_finding import told

from diagnostics.adapter.description import JobDescription
from diagnostics.preflight.host import torch_folders_writable
from diagnostics.preflight.probe import NotApplicable, Skip

BOTH = {"TORCH_HOME": "/hub", "TORCHINDUCTOR_CACHE_DIR": "/kernels"}


def test_folders_that_can_be_written_are_met_with_silence() -> None:
    result = torch_folders_writable.probe(fake_machine(environ=BOTH), preflight_config(Path()))
    assert result.findings == ()
    assert result.title == "the folders of TORCH_HOME and TORCHINDUCTOR_CACHE_DIR can be written"


def test_each_folder_that_cannot_be_written_is_a_warning_the_jobs_own_variables_first() -> None:
    machine = fake_machine(environ=BOTH, disks=FakeDisks(may_write=False, kind="squashfs"))
    job = JobDescription(module="m", config=Path("c.yaml"), env={"TORCH_HOME": "/job/hub"})
    result = torch_folders_writable.probe(machine, preflight_config(Path(), job=job))
    assert told(result.findings) == (
        """WARNING P114 torch-folder-not-writable at TORCH_HOME
TORCH_HOME=/job/hub (squashfs) cannot be written
saw refused by a file made in /job/hub, not made and removed
fix: name a folder that the job may write, or unset the variable
$ findmnt -T /job/hub
$ ls -ld /job/hub
$ unset TORCH_HOME

WARNING P114 torch-folder-not-writable at TORCHINDUCTOR_CACHE_DIR
TORCHINDUCTOR_CACHE_DIR=/kernels (squashfs) cannot be written
saw refused by a file made in /kernels, not made and removed
fix: name a folder that the job may write, or unset the variable
$ findmnt -T /kernels
$ ls -ld /kernels
$ unset TORCHINDUCTOR_CACHE_DIR"""
    )


@pytest.mark.parametrize("environ", [{}, {"TORCH_HOME": ""}])
def test_without_the_variables_the_probe_does_not_apply(environ: dict[str, str]) -> None:
    machine = fake_machine(environ=environ, disks=FakeDisks(may_write=False))
    with pytest.raises(NotApplicable):
        torch_folders_writable.probe(machine, preflight_config(Path()))


def test_a_machine_that_does_not_tell_skips_the_probe() -> None:
    machine = broken_machine()
    with pytest.raises(Skip, match="stale file handle"):
        torch_folders_writable.probe(fake_machine(environ=BOTH, disks=machine.disks), preflight_config(Path()))
