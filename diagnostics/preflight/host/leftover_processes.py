"""Ranks of an earlier run are still alive although their launcher is gone.

What it does: looks at this user's processes that were started with a launcher's variables, or by
multiprocessing for a run with MASTER_PORT, and follows each up to the process that started it. Where that
one is gone and another (init) has adopted them, they are left over. A run whose launcher lives is left alone.

Why it matters: such a rank holds its port, its GPU memory and its shared memory; the next run fails with
EADDRINUSE or runs out of memory.

Fix: look at the process, then `kill PID`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import PurePath

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError, ProcessInfo
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P107"
NAME = "leftover-processes"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
SPAWNED = "multiprocessing.spawn"  # in the command line of every process that mp.spawn started


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns one finding a left-over process."""
    try:
        table = {process.pid: process for process in machine.processes.table()}
        own = machine.processes.own_family()
    except MachineError as error:
        raise Skip(str(error)) from error
    suspects = [item for item in table.values() if item.user == machine.user and item.pid not in own]
    left = [item for item in suspects if is_left_over(item, table)]
    holding = _gpu_pids(machine)
    findings = tuple(_finding(item, config, item.pid in holding) for item in left)
    return ProbeResult(title="no process of an earlier run", findings=findings, measured={"left_over": len(left)})


def is_left_over(process: ProcessInfo, table: Mapping[int, ProcessInfo]) -> bool:
    """Returns whether `process` is a rank whose launcher is dead.

    Only what a living launcher would wait for counts: a rank of torchrun (TORCHELASTIC_RUN_ID) or a
    process of multiprocessing. A rank started by hand with nohup has no launcher either, and is healthy.
    """
    if not _is_rank(process):
        return False
    top = process
    while (parent := table.get(top.ppid)) is not None and _same_run(parent, process):
        top = parent
    # A container may give RANK to its first process, and so to everything in it.
    if parent is None:
        return top.ppid == 1 and top.pid != 1
    return parent.pid == 1 or PurePath(parent.argv[0] if parent.argv else "").name in ("systemd", "tini", "dumb-init")


def _is_rank(process: ProcessInfo) -> bool:
    variables = process.variables
    elastic = "RANK" in variables and "TORCHELASTIC_RUN_ID" in variables
    spawned = "MASTER_PORT" in variables and any(SPAWNED in word for word in process.argv)
    return elastic or spawned


def _same_run(parent: ProcessInfo, process: ProcessInfo) -> bool:
    names = ("RANK", "MASTER_PORT", "TORCHELASTIC_RUN_ID")
    return _is_rank(parent) and all(parent.variables.get(name) == process.variables.get(name) for name in names)


def _gpu_pids(machine: Machine) -> set[int]:
    try:
        return {item.pid for gpu in machine.gpus.devices() for item in gpu.processes}
    except MachineError:  # a machine without GPUs: nobody holds one
        return set()


def _finding(process: ProcessInfo, config: PreflightConfig, holds_gpu: bool) -> Finding:
    port = process.variables.get("MASTER_PORT", "?")
    wanted = config.port if config.port is not None else config.job.port if config.job else None
    obstructs = holds_gpu or port == str(wanted)
    rank = process.variables.get("RANK", "?")
    held = ", holding a GPU" if holds_gpu else ""
    age = _age(time.time() - process.started)
    return Finding(
        code=CODE,
        name="left-over-rank",
        severity=Severity.ERROR if obstructs else Severity.WARNING,
        title=f"rank {rank} of an earlier run is alive: pid {process.pid} ({process.command}), {age} old{held}",
        where=f"pid {process.pid}",
        evidence=(
            Evidence(
                source=f"ps -o pid,ppid,etime,args -p {process.pid}",
                observed=f"parent {process.ppid}, MASTER_PORT {port}",
                expected="a launcher as parent",
            ),
        ),
        fix=Fix(text="end it if you know it", commands=(f"kill {process.pid}",), destructive=True),
        confidence=Confidence.LIKELY,
    )


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
