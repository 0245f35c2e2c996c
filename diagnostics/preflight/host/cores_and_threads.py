"""More threads than cores: ranks and workers take turns instead of running.

What it does: compares the cores this process may use (affinity and control-group quota count) with ranks x
(threads of a rank + loader workers). Threads are the job's own setting, else OMP_NUM_THREADS; torchrun sets
1 where that is not set.

Why it matters: oversubscribed ranks run several times slower, and reach collectives late enough for timeouts.

Fix: `OMP_NUM_THREADS=N` with N = cores / ranks, fewer workers, or more cores.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P105"
NAME = "cores-and-threads"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a warning where ranks and workers outnumber the cores."""
    try:
        cores = machine.limits.cpu_count()
    except MachineError as error:
        raise Skip(str(error)) from error
    given = machine.environ.get("OMP_NUM_THREADS", "")
    if given and not given.isdigit():
        return ProbeResult(title="", findings=(_nonsense(given),), measured={"cores": cores})
    threads = config.job.threads_per_rank if config.job else int(given or 1)
    workers = config.job.workers if config.job else 0
    # A loader worker is idle most of the time where the data is cached: half a core each.
    needed = config.nproc * (threads + workers / 2)
    measured = {"cores": cores, "ranks": config.nproc, "threads_per_rank": threads, "workers": workers}
    if needed <= cores:
        return ProbeResult(title=f"{cores:g} cores for {config.nproc} ranks x {threads} threads", measured=measured)
    fair = max(1, int(cores // config.nproc))
    finding = Finding(
        code=CODE,
        name="cpu-oversubscribed",
        severity=Severity.WARNING,
        title=f"{config.nproc} ranks x ({threads} threads + {workers} workers) share {cores:g} cores",
        where="CPU",
        evidence=(
            Evidence(
                source="nproc, and the control group's cpu quota",
                observed=f"{cores:g} cores",
                expected=f"about {needed:g}",
            ),
        ),
        fix=Fix(text="fewer threads a rank, or fewer workers", commands=(f"export OMP_NUM_THREADS={fair}",)),
    )
    return ProbeResult(title="", findings=(finding,), measured=measured)


def _nonsense(given: str) -> Finding:
    return Finding(
        code=CODE,
        name="omp-num-threads-not-a-number",
        severity=Severity.ERROR,
        title=f"OMP_NUM_THREADS is {given!r}; OpenMP ignores it and takes every core in each rank",
        where="OMP_NUM_THREADS",
        evidence=(Evidence(source="echo $OMP_NUM_THREADS", observed=given, expected="a whole number"),),
        fix=Fix(text="set it to cores / ranks", commands=("export OMP_NUM_THREADS=1",)),
    )
