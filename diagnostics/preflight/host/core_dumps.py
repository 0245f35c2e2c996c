"""Core files are switched off, so that a native crash leaves less to read.

What it does: reads the limit of core files and the kernel's core pattern. It informs and never fails.

Why it matters: a core file names the C++ frames of a SIGSEGV. It is large, so many people want none.

Fix: `ulimit -c unlimited` in the shell that starts the job.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P106"
NAME = "core-dumps"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a note where a crash leaves no core file."""
    try:
        limit, pattern = machine.limits.core_limit(), machine.limits.core_pattern()
    except MachineError as error:
        raise Skip(str(error)) from error
    measured = {"soft": limit.soft, "hard": limit.hard, "core_pattern": pattern}
    # A pattern that starts with | hands the core to a program, whatever the limit says.
    if limit.soft != 0 or pattern.startswith("|"):
        return ProbeResult(title=f"core files are written ({pattern})", measured=measured)
    finding = Finding(
        code=CODE,
        name="core-dumps-off",
        severity=Severity.INFO,
        title="a native crash leaves no core file: the limit is 0",
        where="RLIMIT_CORE",
        evidence=(Evidence(source="ulimit -c", observed="0"),),
        fix=Fix(text="only where C++ frames of a crash are wanted", commands=("ulimit -c unlimited",)),
    )
    return ProbeResult(title="core files are off", findings=(finding,), measured=measured)
