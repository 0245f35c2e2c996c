"""Every rank's device gives a block of memory and keeps what was written.

What it does: allocates a block on each rank's device, a quarter of the free memory of a GPU or 64 MiB of RAM,
fills it and reads it back.

Why it matters: a GPU held by a left-over process, or one with a broken memory page, fails here within a second and
not in the tenth minute of a job.

Fix: end what holds the memory (nvidia-smi names it); memory that does not keep its values is broken hardware.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.rank_values import wrong_value

CODE = "P501"
NAME = "device-memory"
STAGE = Stage.DEVICE
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each rank whose block was not given or did not keep its values."""
    ranks, findings, place = rank_tasks.compute(machine, config, CODE)
    damaged = tuple(
        wrong_value(CODE, "memory read back", "int32", rank.rank, "another value", 3)
        for rank in ranks
        if rank.answer and not rank.answer["intact"]
    )
    mebibytes = min(rank.answer.get("allocated_bytes", 0) for rank in ranks) >> 20
    return ProbeResult(title=f"{mebibytes} MiB given and kept by each rank on {place}", findings=(*findings, *damaged))
