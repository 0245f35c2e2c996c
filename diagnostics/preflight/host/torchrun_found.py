"""The launcher is missing, or `torchrun` on PATH belongs to another Python.

What it does: asks the job's interpreter where torch.distributed.run lies, without importing torch, and reads
the first line of the `torchrun` that PATH finds.

Why it matters: a `torchrun` of another environment starts ranks under that environment's Python, where the
job's packages, or torch itself, are other versions or missing.

Fix: `PYTHON -m torch.distributed.run` in place of `torchrun` always takes the right one.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

CODE = "P109"
NAME = "torchrun-found"
STAGE = Stage.HOST
REQUIRES: tuple[str, ...] = ()
# find_spec of a submodule would import torch; the file's place is enough.
ASK = """
import importlib.util, os, sys
spec = importlib.util.find_spec("torch")
folder = spec and spec.submodule_search_locations and spec.submodule_search_locations[0]
path = folder and os.path.join(folder, "distributed", "run.py")
print(sys.prefix)
print(path if path and os.path.exists(path) else "")
"""


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where ranks would start under another Python, or not at all."""
    try:
        child = machine.child.run([config.python, "-c", ASK], deadline_s=config.thresholds.child_deadline_s)
    except MachineError as error:
        return ProbeResult(title="", findings=(_missing(config.python, str(error)),))
    prefix, launcher = [*child.stdout.splitlines()[-2:], "", ""][:2]
    if child.returncode or not launcher:
        return ProbeResult(title="", findings=(_missing(config.python, child.stderr.strip() or "no torch"),))
    measured = {"launcher": launcher}
    path = shutil.which("torchrun", path=machine.environ.get("PATH", ""))
    other = _interpreter(Path(path)) if path else None
    if path is None or other is None or _same(other, config.python, prefix):
        return ProbeResult(title=f"{config.python} -m torch.distributed.run", measured=measured)
    return ProbeResult(title="", findings=(_foreign(path, other, config.python),), measured=measured)


def _interpreter(script: Path) -> str | None:
    """Returns the Python of a console script's first line; None for scripts that choose at run time."""
    try:
        with script.open("rb") as file:
            first = file.readline(4096).decode(errors="replace").strip()
    except OSError:
        return None
    words = first[2:].split()
    return words[0] if first.startswith("#!") and words and "python" in Path(words[0]).name else None


def _same(other: str, python: str, prefix: str) -> bool:
    # Links are not resolved: two environments share one base interpreter.
    return other == python or Path(other).parent.parent == Path(prefix)


def _missing(python: str, reason: str) -> Finding:
    return Finding(
        code=CODE,
        name="launcher-missing",
        severity=Severity.ERROR,
        title=f"{python} has no torch.distributed.run: no launcher can start ranks",
        where=python,
        evidence=(Evidence(source=f"{python} -m torch.distributed.run --help", observed=reason, expected="its help"),),
        fix=Fix(
            text="name the job's own interpreter, or install torch into this one",
            commands=(
                "ups-doctor preflight --python /path/to/environment/bin/python",
                f"{shlex.quote(python)} -m pip install torch",
            ),
        ),
    )


def _foreign(path: str, other: str, python: str) -> Finding:
    return Finding(
        code=CODE,
        name="torchrun-of-another-python",
        severity=Severity.WARNING,
        title=f"torchrun on PATH ({path}) starts ranks under {other}, not under {python}",
        where=path,
        evidence=(Evidence(source=f"head -1 {path}", observed=other, expected=python),),
        fix=Fix(
            text="name the interpreter, and its launcher follows",
            commands=(f"{shlex.quote(python)} -m torch.distributed.run --nproc-per-node N train.py",),
        ),
    )
