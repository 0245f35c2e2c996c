"""Whether a script fails as the bisected model does, in a process that finds no more than torch."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostics.bisection.failure_identity import normalised_message
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.machine.contract import Child
from diagnostics.machine.facts import ChildTimeout

NAME = "repro.py"
# What would let a script find the user's own code, or run under the doctor's agent.
HIDDEN = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "UPS_DOCTOR_DIR", "RANK", "WORLD_SIZE", "LOCAL_RANK",
          "MASTER_ADDR", "MASTER_PORT", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")  # fmt: skip
STARTING_S = 120.0  # a process that imports torch, on a busy machine
_CODES = re.compile(r"^exit codes of the ranks: \[([-\d, ]*)\]$", re.MULTILINE)
_RAISED = re.compile(
    r"^(?:\[rank\d+\]: )?(?!Traceback|Process |Timeout|Fatal )([A-Za-z_][\w.]*)(?:: (.*))?$", re.MULTILINE
)
_FRAME = re.compile(r'File "[^"]*", line \d+,? in (\S+)')
_FUNCTION = re.compile(r"^(?P<file>\S+\.py)(?::\d+)? (?P<name>\S+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a script ended: exit code, negative for a signal; None where its time was up."""

    returncode: int | None
    stdout: str = ""
    stderr: str = ""

    @property
    def codes(self) -> tuple[int, ...]:
        """Exit codes of its ranks, its own where it has none."""
        found = _CODES.search(self.stdout)
        if found is not None:
            return tuple(int(one) for one in found[1].split(",") if one.strip())
        return (self.returncode,) if self.returncode is not None else ()


def run_clean(text: str, python: str, child: Child, *, limit_s: float, env: Mapping[str, str] | None = None) -> Run:
    """Runs a script alone in an empty folder. Raises MachineError where it cannot be started."""
    folder = Path(tempfile.mkdtemp(prefix="ups-doctor-repro-"))
    try:
        (folder / NAME).write_text(text, encoding="utf-8")
        hidden: dict[str, str | None] = dict.fromkeys(HIDDEN)
        variables = {**hidden, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
        result = child.run([python, NAME], deadline_s=limit_s + STARTING_S, env=variables, cwd=folder)
    except ChildTimeout:
        return Run(returncode=None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    code = -result.signal if result.signal is not None else result.returncode
    said = [
        text.replace(f"{folder}/", "").replace(f"{folder.resolve()}/", "") for text in (result.stdout, result.stderr)
    ]
    return Run(returncode=code, stdout=said[0], stderr=said[1])


def fails_alike(run: Run, failure: Failure) -> bool:
    """Returns whether this end is the failure that was looked for; where it lies counts by the function's name."""
    match failure.kind:
        case FailureKind.SIGNAL:
            number = getattr(signal.Signals, failure.detail, None) if failure.detail in _SIGNALS else None
            return number is not None and -int(number) in run.codes and _in_place(run, failure)
        case FailureKind.EXCEPTION:
            return _raised(run, failure) and _in_place(run, failure)
        case FailureKind.HANG:
            return "Timeout (" in run.stderr and _in_place(run, failure)
        case FailureKind.EXIT:
            return int(failure.detail.rpartition(" ")[2]) in run.codes
        case FailureKind.NONFINITE:
            return f"FloatingPointError: {failure.detail}" in run.stderr
        case FailureKind.DISAGREE:
            return f"AssertionError: {failure.detail} differ" in run.stderr
        case FailureKind.MEMORY:
            return bool(re.search(r"MemoryError|can't allocate memory|out of memory", run.stderr))


_SIGNALS = {one.name for one in signal.Signals}


def _raised(run: Run, failure: Failure) -> bool:
    wanted = failure.detail.rpartition(".")[2]
    return any(
        kind.rpartition(".")[2] == wanted and normalised_message(message or "") == failure.message
        for kind, message in _RAISED.findall(run.stderr)
    )


def _in_place(run: Run, failure: Failure) -> bool:
    """Whether the user's function that failed is on a stack; library functions have no place in the script."""
    names = [found["name"] for place in failure.places if (found := _FUNCTION.match(place.partition(" < ")[0]))]
    names = [name for place, name in zip(failure.places, names, strict=False) if not place.startswith("torch/")]
    own = [name.rpartition(".")[2] for name in names]
    seen = set(_FRAME.findall(run.stderr))
    return not own or any(name in seen for name in own) or not seen
