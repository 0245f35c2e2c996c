"""A single rank can open and close a process group.

What it does: runs the hello-world with world size 1, on NCCL where there is a GPU, else on gloo.

Why it matters: what works alone and fails together points at the network; what fails alone does not. Many scripts
also open a group of one when they are debugged.

Fix: follow the finding; a failure here is the installation's or the device's, not the network's.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.rank_values import hello_finding

CODE = "P305"
NAME = "world-size-one"
STAGE = Stage.RENDEZVOUS
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns whether one rank alone works."""
    backend, _ = rank_tasks.backend_and_ranks(machine, config)
    ranks = rank_tasks.run(machine, config, "hello", backend=backend, nproc=1)
    findings = rank_tasks.failures(CODE, ranks, f"a {backend} group of one") or hello_finding(CODE, ranks, backend)
    return ProbeResult(title=f"{backend}: a group of one rank works", findings=findings)
