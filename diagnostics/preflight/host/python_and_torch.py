"""Torch does not import under the job's Python.

What it does: imports torch in a child under the interpreter the job will use, and reports the versions of
python, torch, CUDA and NCCL. The child is started first and asked late, so the import delays nothing.

Why it matters: a launcher under another Python, or a half-installed torch, fails in every rank at once.

Fix: install torch into that interpreter, or name the right one with `--python`.
"""

from __future__ import annotations

import shlex

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P110"
NAME = "python-and-torch"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns the versions, or a finding with the last lines of the import."""
    try:
        facts = machine.ranks.torch_facts()
    except MachineError as error:
        return ProbeResult(title="", findings=(_no_torch(config.python, str(error)),))
    nccl = f", nccl {facts.nccl}" if facts.nccl else ""
    return ProbeResult(
        title=f"python {facts.python}, torch {facts.torch}{nccl}",
        measured={
            "python": facts.python,
            "executable": facts.executable,
            "torch": facts.torch,
            "cuda": facts.cuda,
            "nccl": facts.nccl,
            "gloo_available": facts.gloo_available,
            "nccl_available": facts.nccl_available,
            "import_seconds": facts.import_seconds,
        },
    )


def _no_torch(python: str, reason: str) -> Finding:
    command = f"{shlex.quote(python)} -c 'import torch'"
    return Finding(
        code=CODE,
        name="torch-does-not-import",
        severity=Severity.ERROR,
        title=f"torch does not import under {python}",
        where=python,
        evidence=(Evidence(source=command, observed=reason, expected="no output"),),
        fix=Fix(
            text="name the job's own interpreter, or install torch into this one",
            commands=(
                "ups-doctor preflight --python /path/to/environment/bin/python",
                f"{shlex.quote(python)} -m pip install torch",
            ),
        ),
    )
