"""Gloo hello-world: the ranks meet and add their numbers on the CPU.

What it does: opens a gloo process group over all ranks in the job's environment, times how long each rank took, and
checks one all_reduce.

Why it matters: gloo carries CPU training, and on GPU machines the barriers, objects and checkpoints. Where it cannot
connect, a job hangs or dies minutes after its start with a text that names neither variable nor interface.

Fix: follow the finding; mostly GLOO_SOCKET_IFNAME, MASTER_ADDR, a taken port or a firewall between the machines.
"""

from __future__ import annotations

from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.rank_values import hello_finding

CODE = "P302"
NAME = "gloo-hello"
STAGE = Stage.RENDEZVOUS
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the seconds of each rank, or why the ranks did not meet."""
    if not rank_tasks.torch_of(machine).gloo_available:
        raise Skip("this torch was built without gloo")
    ranks = rank_tasks.run(machine, config, "hello", backend="gloo", nproc=config.nproc)
    findings = rank_tasks.failures(CODE, ranks, "the gloo rendezvous") or hello_finding(CODE, ranks, "gloo")
    seconds = [rank.answer.get("init_seconds", 0.0) for rank in ranks]
    return ProbeResult(
        title=f"gloo: {len(ranks)} ranks met in {max(seconds):.2f} s",
        findings=findings,
        measured={"init_seconds_by_rank": seconds},
    )
