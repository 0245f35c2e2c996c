"""The temporary folder lies on a network file system.

What it does: reads which file system holds the folder for temporary files: the one that TMPDIR names, or Python's own
choice. It warns and never fails.

Why it matters: data workers keep their sockets there, torchrun each rank's log, torch.compile its kernels. Through a
network each takes longer, all hosts share one folder, and a file that is removed while it is open stays as .nfsXXXX:
processes then say "OSError: [Errno 16] Device or resource busy" as they end.

Fix: `export TMPDIR=/tmp`, or another folder of the host itself, in the shell that starts the job.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P113"
NAME = "temporary-folder-local"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
NETWORK = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "ceph", "beegfs", "glusterfs", "panfs", "pvfs2", "wekafs",
    "afs", "gfs2", "ocfs2", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.juicefs",
    "fuse.mount-s3", "fuse.blobfuse2", "fuse.rclone",
}  # fmt: skip


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a warning where temporary files go over the network."""
    given = config.job.env.get("TMPDIR") if config.job is not None else None
    folder = Path(given or tempfile.gettempdir())
    try:
        kind = machine.disks.file_system(folder)
    except MachineError as error:
        raise Skip(str(error)) from error
    measured = {"folder": str(folder), "file_system": kind}
    if kind not in NETWORK:
        return ProbeResult(title=f"the temporary folder {folder} is on {kind}, no network", measured=measured)
    finding = Finding(
        code=CODE,
        name="temporary-folder-on-network",
        severity=Severity.WARNING,
        title=f"the temporary folder {folder} is on {kind}, a network file system",
        where=str(folder),
        evidence=(Evidence(source=f"findmnt -T {folder}", observed=kind, expected="a disk of this host"),),
        fix=Fix(
            text="name a folder of the host itself in the shell that starts the job", commands=("export TMPDIR=/tmp",)
        ),
    )
    return ProbeResult(title=f"temporary files go over {kind}", findings=(finding,), measured=measured)
