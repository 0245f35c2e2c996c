"""The limit of open files is too low for the ranks and their loader workers.

What it does: reads RLIMIT_NOFILE and compares the soft limit with what one rank needs: its own sockets and
files, and the queues and shared tensors of its loader workers. The limit holds for each process.

Why it matters: torch says "Failed to init uv loop" or "received 0 items of ancdata" and never "too many
open files", so the cause is hard to see from the message.

Fix: `ulimit -n 65536` in the shell that starts the job, `--ulimit nofile=65536` for docker,
`LimitNOFILE=65536` for systemd.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P101"
NAME = "open-files"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
BASE = 256  # descriptors of a rank without workers: libraries, sockets to every peer on small jobs, logs


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where one rank may run out of descriptors."""
    limit = machine.limits.open_files()
    workers = config.job.workers if config.job else 0
    needed = BASE + 2 * config.nproc + workers * config.thresholds.fds_per_worker
    shown = "unlimited" if limit.soft < 0 else f"{limit.soft:,}"
    measured = {"soft": limit.soft, "hard": limit.hard, "needed": needed}
    if limit.soft < 0 or limit.soft >= needed:
        return ProbeResult(title=f"{shown} open files a process, about {needed} needed", measured=measured)
    wanted = max(65536, 2 * needed)
    raised = wanted if limit.hard < 0 else min(limit.hard, wanted)
    commands = (f"ulimit -n {raised}",) if raised >= needed else (f"docker run --ulimit nofile={wanted} ...",)
    finding = Finding(
        code=CODE,
        name="too-few-open-files",
        severity=Severity.ERROR,
        title=f"a process may open {shown} files; one rank with {workers} workers needs about {needed}",
        where="RLIMIT_NOFILE",
        evidence=(Evidence(source="ulimit -n", observed=shown, expected=f"{needed} or more"),),
        fix=Fix(text="raise the limit in the shell that starts the job", commands=commands),
    )
    return ProbeResult(title="", findings=(finding,), measured=measured)
