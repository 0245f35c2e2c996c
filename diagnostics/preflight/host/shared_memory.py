"""Shared memory is too small for the batches that loader workers prepare.

What it does: compares the free space of /dev/shm with the bytes of one batch x batches prepared ahead x
workers x ranks, and half as much again.

Why it matters: workers hand batches over through /dev/shm. Where it is full they die of SIGBUS ("Bus error,
insufficient shared memory"), or wait for ever. Containers start with 64 MiB.

Fix: `docker run --shm-size=8g`, `emptyDir: {medium: Memory}` at /dev/shm for Kubernetes, `mount -o
remount,size=8g /dev/shm` as root, or fewer workers.
"""

from __future__ import annotations

import math

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import format_bytes
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P102"
NAME = "shared-memory"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
SHM = "/dev/shm"  # noqa: S108 - a name in a message
MARGIN = 1.5  # a batch in work on each side of the queue
SMALLEST = 256 << 20  # without a CONFIG: below this any loader with workers is at risk; docker gives 64 MiB


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where the batches in flight do not fit."""
    try:
        space = machine.memory.shm()
    except MachineError as error:
        raise Skip(str(error)) from error
    job = config.job
    if job is None:
        needed, why = SMALLEST, "loader workers"
    else:
        batches = config.nproc * job.workers * job.prefetch
        needed = int(MARGIN * batches * job.batch_bytes)
        why = (
            f"{config.nproc} ranks x {job.workers} workers x {job.prefetch} batches of {format_bytes(job.batch_bytes)}"
        )
    measured = {"total_bytes": space.total_bytes, "free_bytes": space.free_bytes, "needed_bytes": needed}
    if space.free_bytes >= needed:
        return ProbeResult(title=f"{SHM} has {format_bytes(space.free_bytes)} free", measured=measured)
    size = max(1, math.ceil((needed + space.total_bytes - space.free_bytes) / 2**30))
    finding = Finding(
        code=CODE,
        name="shared-memory-too-small",
        severity=Severity.ERROR if job else Severity.WARNING,
        title=f"{SHM} has {format_bytes(space.free_bytes)} free; {why} need about {format_bytes(needed)}",
        where=SHM,
        evidence=(
            Evidence(
                source='os.statvfs("/dev/shm")',
                observed=f"{format_bytes(space.free_bytes)} of {format_bytes(space.total_bytes)} free",
                expected=f"{format_bytes(needed)} or more",
            ),
        ),
        fix=Fix(
            text="give the container or the mount more, or use fewer workers",
            commands=(f"docker run --shm-size={size}g ...", f"sudo mount -o remount,size={size}g /dev/shm"),
        ),
    )
    return ProbeResult(title="", findings=(finding,), measured=measured)
