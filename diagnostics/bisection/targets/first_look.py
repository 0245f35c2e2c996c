"""What the watched run of the failing case says before any search: who may be at fault besides the model."""

from __future__ import annotations

from diagnostics.bisection.targets.watched import watched
from diagnostics.bisection.trial import FailureKind, Trial
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.report.run_report import RunReport

STALL_S = {True: 30.0, False: 60.0}  # whether it is known to hang
# What the watched run may prove that no model is at fault for: it is the machine, or the launch.
NOT_THE_MODEL = {
    "env-not-propagated", "port-in-use", "rendezvous-timeout", "master-unreachable", "nested-launch",
    "backend-unavailable", "device-misassigned", "version-skew", "fd-exhaustion", "shm-exhausted", "disk-full",
    "permission",
}  # fmt: skip


def first_look(wanted: BisectionRequest, trial: Trial | None) -> RunReport | None:
    """Has the doctor watch the case; one that fails now and then is run until it does.

    None where the watch itself came to nothing. Raises OSError where its folder cannot be made.
    """
    case = trial.case if trial is not None else wanted.cases[0]
    folder = wanted.folder / ("failing-run" if trial else "run")
    seen = None
    for number in range(wanted.repeat if trial else 1):
        place = folder if number == 0 else folder.with_name(f"{folder.name}-{number + 1}")
        seen = watched(case, place, python=wanted.python, stall_s=STALL_S[_hangs(trial)])
        if seen is None or seen.outcome is not JobOutcome.OK:
            break
    return seen


def only_slow(trial: Trial, seen: RunReport | None) -> str:
    """Returns why what had no end in time is no hang, or one now and then; "" where nothing says so."""
    if not _hangs(trial) or seen is None or seen.outcome is not JobOutcome.OK:
        return ""
    took_s = seen.seconds.get("job", 0.0)
    why = f"what had no end in {trial.seconds:.0f} s came to its end under watch, in {took_s:.0f} s"
    hint = f"give the tries longer: --deadline {2 * max(took_s, trial.seconds):.0f}; or more often: --repeat 5"
    return f"{why}; {hint}"


def proved_outside(seen: RunReport | None) -> str:
    """Returns what of the machine or of the launch is at fault, "" where nothing is proved."""
    if seen is None or seen.failure_class not in NOT_THE_MODEL:
        return ""
    return f"{seen.failure_class}: {seen.root_cause}"


def _hangs(trial: Trial | None) -> bool:
    return trial is not None and trial.failure is not None and trial.failure.kind is FailureKind.HANG
