"""Too little RAM is left for the ranks and their workers.

What it does: reads what can be taken without swapping, where the limit of the control group (docker -m,
Kubernetes, Slurm) counts, and compares it with about 0.5 GiB for each rank and worker that imports torch.

Why it matters: the kernel ends a process with SIGKILL when memory runs out. No traceback is left, and the
launcher reports exit code -9 for a rank that did nothing wrong.

Fix: raise the container's limit, end what else uses memory, or use fewer workers.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import format_bytes
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P104"
NAME = "memory"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
RANK_BYTES = 512 << 20  # resident after `import torch` and a process group, rounded up
WORKER_BYTES = 128 << 20  # a forked worker shares most pages with its rank


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where the ranks alone would fill what is left."""
    try:
        available, total = machine.memory.available_bytes(), machine.memory.total_bytes()
        group = machine.memory.cgroup()
    except MachineError as error:
        raise Skip(str(error)) from error
    workers = config.job.workers if config.job else 0
    ranks_bytes = config.nproc * (RANK_BYTES + workers * WORKER_BYTES)
    needed = max(config.thresholds.min_free_memory_bytes, ranks_bytes)
    measured = {"available_bytes": available, "total_bytes": total, "needed_bytes": needed}
    if available >= needed:
        title = f"{format_bytes(available)} of {format_bytes(total)} RAM available"
        return ProbeResult(title=title, measured=measured)
    limit = f", limited by {group.path}" if group else ""
    finding = Finding(
        code=CODE,
        name="memory-too-small",
        severity=Severity.ERROR if available < ranks_bytes else Severity.WARNING,
        title=f"{format_bytes(available)} RAM left{limit}; {config.nproc} ranks need {format_bytes(needed)} to start",
        where=group.path if group else "RAM",
        evidence=(
            Evidence(
                source="/proc/meminfo and the control group's limit",
                observed=f"{format_bytes(available)} of {format_bytes(total)}",
                expected=f"{format_bytes(needed)} or more",
            ),
        ),
        fix=Fix(
            text="raise the container's limit or end what uses the memory",
            commands=("ps aux --sort=-rss | head", "docker run --memory=16g ..."),
        ),
    )
    return ProbeResult(title="", findings=(finding,), measured=measured)
