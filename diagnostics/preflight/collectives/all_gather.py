"""All_gather gives every rank all parts in order.

What it does: runs it on all ranks for each dtype in use and compares every value with the exact one.

Why it matters: metrics are collected and sharded parameters are put together by it.

Fix: a wrong value is a sick device, driver or network card; the finding names operation, dtype and rank.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P403"
NAME = "all-gather"
STAGE = Stage.COLLECTIVES
REQUIRES = ("P302", "P303")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each rank and dtype with a wrong value."""
    backend, nproc = rank_tasks.backend_and_ranks(machine, config)
    return rank_tasks.right_values(machine, config, CODE, "all_gather", backend=backend, nproc=nproc)
