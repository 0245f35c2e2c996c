"""The minimal case under other versions of torch, and where between them the failure came or went."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise

from diagnostics.bisection.environments.install import install
from diagnostics.bisection.found import Bisection, VersionRow
from diagnostics.bisection.progress import BisectionProgress
from diagnostics.bisection.repro.check import Run, fails_alike, run_clean
from diagnostics.bisection.search.module_found import shortly
from diagnostics.bisection.trial import Failure
from diagnostics.bisection.tries.oracle import open_tries
from diagnostics.bisection.wanted import BisectionRequest, Environment
from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError
from diagnostics.machine.contract import Child, Machine
from diagnostics.machine.facts import ChildTimeout, MachineError

FAILS, PASSES, OTHERWISE, CANNOT = "fails", "passes", "fails otherwise", "cannot run"
SCRIPT_LIMIT_S = 180.0
VERSION_DEADLINE_S = 180.0
# What a script for a newer torch meets in an older one: it says nothing about the failure.
_LACKS = re.compile(r"^(?:ImportError|ModuleNotFoundError|AttributeError: module 'torch\b.*)", re.MULTILINE)
_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(\.dev|a|b|rc)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What one environment gave."""

    wanted: str
    torch: str  # its version, "" where it could not be imported
    result: str
    note: str = ""

    @property
    def row(self) -> VersionRow:
        """As it is shown."""
        note = ", ".join(filter(None, (f"torch {self.torch}" if self.torch else "", self.note)))
        return VersionRow(wanted=self.wanted, result=self.result, note=note)


def compare_versions(
    found: Bisection,
    wanted: BisectionRequest,
    environments: Sequence[Environment],
    machine_of: Callable[[str], Machine],
    child: Child,
    progress: BisectionProgress,
) -> Bisection:
    """Returns the bisection with a row for each environment, and with the versions between which it came or went.

    The script that shows the failure is run where there is one, since it needs only torch; else the minimal case.
    """
    if found.failure is None or found.minimal is None:
        return found
    tried = []
    for number, one in enumerate(environments):
        ready = install(one, python=wanted.python, child=child, progress=progress)
        progress.doing(f"trying it under {one.wanted}")
        folder = wanted.folder / "versions" / str(number)
        tried.append(_tried(found, found.failure, replace(wanted, folder=folder), ready, machine_of, child, progress))
    known = Tried(wanted="this one", torch=found.torch, result=FAILS)
    return replace(
        found,
        versions=tuple(one.row for one in tried),
        evidence=(*found.evidence, *came_or_went([known, *tried])),
    )


def _tried(
    found: Bisection,
    failure: Failure,
    wanted: BisectionRequest,
    one: Environment,
    machine_of: Callable[[str], Machine],
    child: Child,
    progress: BisectionProgress,
) -> Tried:
    if one.problem:
        return Tried(wanted=one.wanted, torch="", result=CANNOT, note=one.problem)
    try:
        torch = version_of(one.python, child)
        script = wanted.folder.parent.parent / found.repro
        if found.repro and found.repro_failed:
            result, note = _script(script.read_text(encoding="utf-8"), one, failure, wanted.repeat, child)
        else:
            result, note = _case(found, failure, wanted, one, machine_of, progress)
    except (ChildTimeout, MachineError, DoctorError, OSError) as error:
        return Tried(wanted=one.wanted, torch="", result=CANNOT, note=redaction.line(str(error)))
    return Tried(wanted=one.wanted, torch=torch, result=result, note=note)


def version_of(python: str, child: Child) -> str:
    """Returns the version of torch under this Python. Raises DoctorError where it cannot be imported."""
    code = "import warnings; warnings.simplefilter('ignore'); import torch; print(torch.__version__)"
    result = child.run([python, "-c", code], deadline_s=VERSION_DEADLINE_S)
    if result.returncode:
        raise DoctorError(f"torch cannot be imported there: {_last_line(result.stderr)}")
    return _last_line(result.stdout)


def _script(text: str, one: Environment, failure: Failure, repeat: int, child: Child) -> tuple[str, str]:
    runs = []
    for _ in range(max(1, repeat)):
        runs.append(run_clean(text, one.python, child, limit_s=SCRIPT_LIMIT_S))
        if repeat == 1 or fails_alike(runs[-1], failure):
            break
    return _verdict(runs, failure)


def _verdict(runs: Sequence[Run], failure: Failure) -> tuple[str, str]:
    times = f"{sum(fails_alike(run, failure) for run in runs)} of {len(runs)} runs of the script"
    if any(fails_alike(run, failure) for run in runs):
        return FAILS, times if len(runs) > 1 else "the script"
    if all(run.returncode == 0 for run in runs):
        return PASSES, times if len(runs) > 1 else "the script"
    other = next(run for run in runs if run.returncode != 0)
    lacks = _LACKS.search(other.stderr)
    if lacks is not None:
        return CANNOT, redaction.line(f"the script needs what is not there: {lacks[0]}")
    said = "no end in time" if other.returncode is None else f"exit code {other.returncode}: {_last_line(other.stderr)}"
    return OTHERWISE, redaction.line(said)


def _case(
    found: Bisection,
    failure: Failure,
    wanted: BisectionRequest,
    one: Environment,
    machine_of: Callable[[str], Machine],
    progress: BisectionProgress,
) -> tuple[str, str]:
    assert found.minimal is not None  # noqa: S101 - asked by the caller
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        machine = stack.enter_context(machine_of(one.python))
        tries = open_tries(replace(wanted, python=one.python), machine, progress)
        stack.callback(tries.close)
        trial = tries.ask(found.minimal, f"the minimal case under {one.wanted}")
    times = f"{trial.failed} of {trial.runs}" if trial.runs > 1 else "the minimal case"
    if trial.refusal:
        return CANNOT, trial.refusal
    if trial.shows(failure):
        return FAILS, times
    return (PASSES, times) if trial.failure is None else (OTHERWISE, shortly(trial.failure))


def came_or_went(tried: Sequence[Tried]) -> tuple[str, ...]:
    """Returns "first good torch 2.14.0, last bad 2.13.0" for each place between two versions where it changes."""
    known = {order(one.torch): one for one in tried if one.torch and one.result in (FAILS, PASSES)}
    said = []
    for before, after in pairwise(known[key] for key in sorted(known)):
        if (before.result, after.result) == (FAILS, PASSES):
            said.append(f"it is gone since torch {after.torch} (first good); {before.torch} is the last bad one tried")
        elif (before.result, after.result) == (PASSES, FAILS):
            said.append(f"it came with torch {after.torch} (first bad); {before.torch} is the last good one tried")
    return tuple(said)


def order(version: str) -> tuple[int, int, int, bool]:
    """Returns what versions are sorted by; a development build comes before its release."""
    found = _NUMBERS.match(version)
    if found is None:
        return 0, 0, 0, False
    return int(found[1]), int(found[2]), int(found[3] or 0), not found[4]


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
