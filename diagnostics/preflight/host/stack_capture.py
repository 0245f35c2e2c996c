"""Stacks of running processes cannot be read here.

What it does: starts a Python that sleeps and lets py-spy read its stack: ptrace permission is tried, not
derived from settings.

Why it matters: without it a hanging rank that runs no agent cannot be asked where it stands.

Fix: `--cap-add SYS_PTRACE` for docker, `sysctl kernel.yama.ptrace_scope=0` as root on the host, `pip install
py-spy` where it is missing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P108"
NAME = "stack-capture"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
SLEEPER = CHILDREN / "traced_sleeper.py"


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a warning where py-spy is missing or refused."""
    program = _py_spy(machine.environ.get("PATH", ""))
    if program is None:
        return ProbeResult(title="", findings=(_missing(),))
    argv = [sys.executable, str(SLEEPER), program]
    child = machine.child.run(argv, deadline_s=config.thresholds.child_deadline_s)
    if child.returncode == 0 and "Thread" in child.stdout:
        return ProbeResult(title="py-spy reads the stacks of other processes", measured={"py_spy": program})
    return ProbeResult(title="", findings=(_refused(machine, program, child.stderr.strip() or child.stdout.strip()),))


def _py_spy(path: str) -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy", path=path)


def _missing() -> Finding:
    command = f"{sys.executable} -m pip install py-spy"
    return Finding(
        code=CODE,
        name="py-spy-missing",
        severity=Severity.WARNING,
        title="py-spy was not found; stacks of hanging ranks cannot be read",
        where="py-spy",
        evidence=(Evidence(source="which py-spy", observed="nothing", expected="a path"),),
        fix=Fix(text="install it beside the doctor", commands=(command,)),
    )


def _refused(machine: Machine, program: str, said: str) -> Finding:
    said = said.partition("Stack backtrace")[0].strip()  # of py-spy itself
    return Finding(
        code=CODE,
        name="ptrace-refused",
        severity=Severity.WARNING,
        title=f"py-spy may not read other processes: {_settings(machine)}",
        where="ptrace",
        evidence=(Evidence(source=f"{program} dump --pid PID", observed=said or "no output", expected="a stack"),),
        fix=Fix(
            text="allow ptrace in the container, or on the host",
            commands=("docker run --cap-add SYS_PTRACE ...", "sudo sysctl kernel.yama.ptrace_scope=0"),
        ),
    )


def _settings(machine: Machine) -> str:
    """Returns what the kernel says of ptrace: Yama's scope and this process's capability."""
    try:
        scope, capable = machine.limits.ptrace_scope(), machine.limits.can_trace_all()
    except MachineError as error:
        return f"the kernel does not say why ({error})"
    yama = "no Yama" if scope is None else f"kernel.yama.ptrace_scope is {scope}"
    return f"{yama}, CAP_SYS_PTRACE is {'there' if capable else 'missing'}"
