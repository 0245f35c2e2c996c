"""Barrier, and the monitored barrier that names an absent rank.

What it does: passes a barrier on all ranks; on gloo also keeps the last rank away from a monitored barrier and checks
that its number is named.

Why it matters: a barrier that lets ranks through early corrupts what it guards (a download, a cache, a checkpoint);
the monitored one is how a job can say who is missing instead of hanging.

Fix: where a barrier fails after the rendezvous went well, look at the network between the ranks.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Finding, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P304"
NAME = "barriers"
STAGE = Stage.RENDEZVOUS
REQUIRES = ("P302",)


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the barrier's seconds, and whether the absent rank was named."""
    ranks = rank_tasks.run(machine, config, "barriers", backend="gloo", nproc=config.nproc)
    findings = rank_tasks.failures(CODE, ranks, "a gloo barrier")
    absent, said = config.nproc - 1, ranks[0].answer.get("said", "")
    if not findings and config.nproc > 1 and absent not in _named(said):
        findings = (_unnamed(absent, said),)
    seconds = max(rank.answer.get("barrier_seconds", 0.0) for rank in ranks)
    named = f"; monitored_barrier names rank {absent} when it is absent" if config.nproc > 1 else ""
    return ProbeResult(title=f"gloo barrier passed{named}", findings=findings, measured={"barrier_us": seconds * 1e6})


def _named(said: str) -> set[int]:
    """Returns the ranks that the monitored barrier says are absent: `Ranks 1, 3 failed to pass ...`."""
    listed = re.search(r"Ranks? ([\d, ]+?) failed", said)
    return {int(rank) for rank in re.findall(r"\d+", listed[1])} if listed else set()


def _unnamed(absent: int, said: str) -> Finding:
    return Finding(
        code=CODE,
        name="absent-rank-not-named",
        severity=Severity.WARNING,
        title=f"monitored_barrier does not name rank {absent}, which stayed away",
        where=f"rank {absent}",
        evidence=(Evidence(source="dist.monitored_barrier on rank 0", observed=said, expected=f"rank {absent}"),),
    )
