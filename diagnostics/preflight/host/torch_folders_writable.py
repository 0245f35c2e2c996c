"""A folder that TORCH_HOME or TORCHINDUCTOR_CACHE_DIR names may not be written.

What it does: tries to make a file in each of these folders that is set, and leaves none behind; a folder that does not
exist yet stands for its nearest parent that does. It warns and never fails.

Why it matters: torch.hub downloads weights to TORCH_HOME, torch.compile writes kernels to TORCHINDUCTOR_CACHE_DIR. On
a file system that is mounted read-only, or where somebody else owns the folder, the ranks end with an OSError at the
first download or the first compiled step, long after the start.

Fix: in the shell that starts the job, name a folder that it may write, or unset the variable.
"""

from __future__ import annotations

from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import NotApplicable, PreflightConfig, ProbeResult, Skip, Stage

CODE = "P114"
NAME = "torch-folders-writable"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()

VARIABLES = ("TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a warning for each variable whose folder cannot be written."""
    environ = {**machine.environ, **(config.job.env if config.job is not None else {})}
    named = {variable: environ[variable] for variable in VARIABLES if environ.get(variable)}
    if not named:
        raise NotApplicable(f"neither {' nor '.join(VARIABLES)} is set")
    findings: list[Finding] = []
    for variable, value in named.items():
        # torch.hub expands a ~, the compiler takes the text as it stands.
        folder = Path(value).expanduser() if variable == "TORCH_HOME" else Path(value)
        try:
            if not machine.disks.writable(folder):
                findings.append(_finding(variable, folder, machine.disks.file_system(folder)))
        except MachineError as error:
            raise Skip(str(error)) from error
    title = f"the folders of {' and '.join(named)} can be written" if not findings else "torch cannot write its folders"
    return ProbeResult(title=title, findings=tuple(findings), measured=named)


def _finding(variable: str, folder: Path, kind: str) -> Finding:
    return Finding(
        code=CODE,
        name="torch-folder-not-writable",
        severity=Severity.WARNING,
        title=f"{variable}={folder} ({kind}) cannot be written",
        where=variable,
        evidence=(Evidence(source=f"a file made in {folder}", observed="refused", expected="made and removed"),),
        fix=Fix(
            text="name a folder that the job may write, or unset the variable",
            commands=(f"findmnt -T {folder}", f"ls -ld {folder}", f"unset {variable}"),
        ),
    )
