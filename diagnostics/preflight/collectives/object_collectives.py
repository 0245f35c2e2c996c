"""Python objects arrive whole on every rank.

What it does: all_gather_object and broadcast_object_list with objects whose size differs from rank to rank.

Why it matters: checkpoints, metrics and configurations travel this way; they are pickled, and sent in two collectives
whose sizes must agree.

Fix: follow the finding; objects that fail while tensors work point at different Python or torch versions.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.rank_values import wrong_value

CODE = "P406"
NAME = "object-collectives"
STAGE = Stage.COLLECTIVES
REQUIRES = ("P302", "P303")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each rank that got another object."""
    backend, nproc = rank_tasks.backend_and_ranks(machine, config)
    ranks = rank_tasks.run(machine, config, "objects", backend=backend, nproc=nproc)
    wrong = tuple(
        wrong_value(CODE, one["operation"], "object", rank.rank, one["got"], one["expected"])
        for rank in ranks
        for one in rank.answer.get("wrong", ())
    )
    findings = (*rank_tasks.failures(CODE, ranks, f"object collectives on {backend}"), *wrong)
    return ProbeResult(title=f"object collectives right on {nproc} ranks of {backend}", findings=findings)
