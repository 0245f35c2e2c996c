"""Latency and bandwidth of all_reduce, beside the last good run.

What it does: times a small and a large all_reduce, takes the least seconds of several rounds on the slowest rank, and
compares with the last run that passed on this machine with the same ranks and backend.

Why it matters: a network that fell back from NVLink or InfiniBand to sockets trains right and many times slower;
nothing else says so.

Fix: look for other work on the machine first; then NCCL_DEBUG=INFO shows which way the channels go.
"""

from __future__ import annotations

from typing import Any

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P407"
NAME = "all-reduce-speed"
STAGE = Stage.COLLECTIVES
REQUIRES = ("P302", "P303")

SMALL_BYTES = 4
LARGE_BYTES = 4 << 20
ROUNDS = {"small_rounds": 200, "large_rounds": 10}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns latency in microseconds and bandwidth in GB/s of payload; a warning where they became worse."""
    backend, nproc = rank_tasks.backend_and_ranks(machine, config)
    if nproc < 2:
        raise Skip("needs two ranks")
    arguments = {"small_bytes": SMALL_BYTES, "large_bytes": LARGE_BYTES, **ROUNDS}
    ranks = rank_tasks.run(machine, config, "speed", backend=backend, nproc=nproc, arguments=arguments)
    findings = rank_tasks.failures(CODE, ranks, f"all_reduce on {backend}")
    if findings:
        return ProbeResult(title="all_reduce", findings=findings)
    small_s, large_s = (max(rank.answer[name] for rank in ranks) for name in ("small_s", "large_s"))
    measured = {"latency_us": small_s * 1e6, "large_us": large_s * 1e6, "bandwidth_gb_s": LARGE_BYTES / large_s / 1e9}
    return ProbeResult(
        title=f"all_reduce on {nproc} ranks of {backend}: {measured['latency_us']:.0f} us for {SMALL_BYTES} B, "
        f"{measured['bandwidth_gb_s']:.2f} GB/s for {LARGE_BYTES >> 20} MiB",
        findings=_slower(measured, config),
        measured=measured,
    )


def _slower(measured: dict[str, Any], config: PreflightConfig) -> tuple[Finding, ...]:
    good = config.last_good.get(CODE, {})
    limit = config.thresholds.slower_than_last_good
    names = {"latency_us": f"{SMALL_BYTES} B", "large_us": f"{LARGE_BYTES >> 20} MiB"}
    return tuple(
        Finding(
            code=CODE,
            name="slower-than-last-good",
            severity=Severity.WARNING,
            title=f"all_reduce of {size} takes {measured[name]:.0f} us, {measured[name] / good[name]:.1f} times the "
            f"{good[name]:.0f} us of the last good run",
            where=f"all_reduce of {size}",
            evidence=(
                Evidence(
                    source=rank_tasks.rerun(CODE),
                    observed=f"{measured[name]:.0f} us",
                    expected=f"at most {limit:g} x {good[name]:.0f} us",
                ),
            ),
            fix=Fix(text="look for other work on the machine, then at the way the data goes", commands=("uptime",)),
        )
        for name, size in names.items()
        if good.get(name) and measured[name] > limit * good[name]
    )
