"""The probe of the temporary folder's file system: quiet on a disk of the host, a warning on a network's."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from fakes import FakeDisks, broken_machine, fake_machine, preflight_config
from whole_finding import told

from diagnostics.adapter.description import JobDescription
from diagnostics.preflight.host import temporary_folder_local
from diagnostics.preflight.probe import Skip


@pytest.mark.parametrize("kind", ["ext4", "tmpfs", "overlay", "fuseblk"])
def test_a_folder_of_the_host_is_met_with_silence(kind: str) -> None:
    result = temporary_folder_local.probe(fake_machine(disks=FakeDisks(kind=kind)), preflight_config(Path()))
    assert result.findings == ()
    assert result.title == f"the temporary folder {tempfile.gettempdir()} is on {kind}, no network"


def test_a_network_file_system_is_a_warning_at_the_folder_that_the_job_names() -> None:
    job = JobDescription(module="m", config=Path("c.yaml"), env={"TMPDIR": "/home/ada/tmp"})
    result = temporary_folder_local.probe(fake_machine(disks=FakeDisks(kind="nfs4")), preflight_config(Path(), job=job))
    assert told(result.findings) == (
        """WARNING P113 temporary-folder-on-network at /home/ada/tmp
the temporary folder /home/ada/tmp is on nfs4, a network file system
saw nfs4 by findmnt -T /home/ada/tmp, not a disk of this host
fix: name a folder of the host itself in the shell that starts the job
$ export TMPDIR=/tmp"""
    )


def test_a_machine_that_does_not_tell_skips_the_probe() -> None:
    with pytest.raises(Skip):
        temporary_folder_local.probe(broken_machine(), preflight_config(Path()))
