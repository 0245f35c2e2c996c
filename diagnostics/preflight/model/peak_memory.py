"""The job's memory high-water mark comes close to what the machine has.

What it does: multiplies the highest memory that one rank of the dry run reached by the ranks, and compares
it with the machine's RAM, or the container's limit where that is less.

Why it matters: a longer run needs more (a bigger batch at the end, a validation, fragmentation); at the
limit the kernel ends a rank with SIGKILL, which leaves no message.

Example: `2 ranks reached 13.1 GiB together, the container may use 14.0 GiB`.

Fix: fewer loader workers, a smaller batch, or accumulation.
"""

from __future__ import annotations

from diagnostics.adapter.answers import read_answer, read_json
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import number
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P804"
NAME = "peak-memory"
STAGE = Stage.DRY_RUN
REQUIRES = ("P801",)
SHARE = 0.85  # of the machine's memory; the rest is for the system and for what a longer run adds
GIB = 1 << 30


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the high-water mark; a warning where the ranks together come close to the limit."""
    answer = read_json(read_answer(config.record_dir, "dry-run")) or {}
    peak = number(answer, "peak_memory_bytes")
    if not peak:
        raise Skip("the dry run measured no memory")
    ranks = int(number(answer, "world_size") or config.nproc)
    total = machine.memory.total_bytes()
    title = f"{ranks} ranks reached {ranks * peak / GIB:.1f} GiB together, this machine has {total / GIB:.1f} GiB"
    findings = (_tight(title, ranks * peak, total),) if ranks * peak > SHARE * total else ()
    return ProbeResult(title=title, findings=findings, measured={"peak_memory_bytes": peak, "world_size": ranks})


def _tight(title: str, used: float, total: int) -> Finding:
    return Finding(
        code=CODE,
        name="host-memory-tight",
        severity=Severity.WARNING,
        title=title,
        where="the dry run",
        evidence=(
            Evidence(
                source="peak_memory_bytes x world_size in answer-dry-run.json of this report",
                observed=f"{used:.0f} bytes",
                expected=f"at most {SHARE:.0%} of {total} bytes",
            ),
        ),
        fix=Fix(text="use fewer loader workers, a smaller batch, or accumulation"),
    )
