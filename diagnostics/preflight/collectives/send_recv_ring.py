"""Send and recv pass values around the ring of ranks.

What it does: runs it on all ranks for each dtype in use and compares every value with the exact one.

Why it matters: pipelines and checkpoints use point-to-point messages, which take other connections than collectives.

Fix: a wrong value is a sick device, driver or network card; the finding names operation, dtype and rank.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P405"
NAME = "send-recv-ring"
STAGE = Stage.COLLECTIVES
REQUIRES = ("P302", "P303")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each rank and dtype with a wrong value."""
    backend, nproc = rank_tasks.backend_and_ranks(machine, config)
    if nproc < 2:
        raise Skip("needs two ranks")
    return rank_tasks.right_values(machine, config, CODE, "ring", backend=backend, nproc=nproc)
