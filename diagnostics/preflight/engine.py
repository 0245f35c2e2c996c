"""Runs the probes: in order of what they require, each ending in an outcome, whatever happens inside it."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from diagnostics import preflight as built_in
from diagnostics.core.findings import Outcome, Status, Verdict
from diagnostics.machine.facts import ChildTimeout
from diagnostics.preflight.plan import STAGE_ORDER, STAGES_OF_A_JOB, STAGES_OF_HOSTS, Probe, in_order, load_probes
from diagnostics.preflight.probe import NotApplicable, PreflightConfig, ProbeResult, Skip, Stage

if TYPE_CHECKING:
    from diagnostics.machine.contract import Machine

# What `ups train` runs before it starts: seconds, not the launcher's start and no training step.
QUICK_STAGES = (Stage.HOST, Stage.RENDEZVOUS)
# What can be said about a script that has no adapter.
SCRIPT_STAGES = (Stage.HOST, Stage.LAUNCH, Stage.RENDEZVOUS, Stage.COLLECTIVES)


class PreflightObserver(Protocol):
    """Told of progress, for a live line."""

    def started(self, probe: Probe) -> None:
        """This probe runs from now on."""

    def finished(self, outcome: Outcome) -> None:
        """One probe has ended, or will not run."""


class SilentPreflight:
    """An observer that shows nothing."""

    def started(self, probe: Probe) -> None:
        """Shows nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Shows nothing."""


class PreflightInterrupted(KeyboardInterrupt):
    """Ctrl-C came while probes ran; `verdict` holds what was found so far."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


def run_preflight(
    config: PreflightConfig,
    machine: Machine,
    observer: PreflightObserver | None = None,
    stages: Sequence[Stage] | None = None,
    skip: Collection[str] = (),
    package: ModuleType = built_in,
) -> Verdict:
    """Returns how every probe of the wanted stages ended.

    `stages` defaults to all that the config allows; `skip` holds codes. A probe whose required probe did
    not pass is skipped with that reason; one that was left out on request holds nobody up. Raises
    Interrupted with the verdict so far on Ctrl-C: by then the running probe's children have ended.
    """
    began = time.monotonic()
    if stages is None:
        stages = default_stages(
            has_job=config.job is not None, has_script=bool(config.script), has_hosts=config.hosts is not None
        )
    loaded, broken = load_probes(package)
    chosen = [probe for probe in in_order(loaded) if probe.stage in stages]
    run = _Run(config, machine, observer or SilentPreflight())
    try:
        for outcome in broken:
            if outcome.stage in stages and outcome.code not in skip:
                run.take(outcome)
        if any(probe.stage not in STAGES_OF_HOSTS for probe in chosen):
            # `import torch` takes a second: it runs while the first probes do.
            _warm(machine, for_modules=any(probe.stage is Stage.MODEL for probe in chosen))
        for probe in chosen:
            run.one(probe, skip)
    except KeyboardInterrupt as stop:
        run.interrupted(chosen)
        raise PreflightInterrupted(run.verdict(time.monotonic() - began)) from stop
    return run.verdict(time.monotonic() - began)


def _warm(machine: Machine, *, for_modules: bool) -> None:
    """Starts `import torch` in the background."""
    from diagnostics.machine.facts import MachineError

    # A Python that cannot be started is a finding of the probes that need it, with its name and its remedy.
    with contextlib.suppress(MachineError):
        machine.ranks.warm(for_modules=for_modules)


def default_stages(*, has_job: bool, has_script: bool, has_hosts: bool = False) -> tuple[Stage, ...]:
    """Returns the stages that make sense for what was given: hosts, a CONFIG, a script, or nothing."""
    if has_hosts:
        return STAGES_OF_HOSTS
    if has_script:
        return SCRIPT_STAGES
    left_out = STAGES_OF_HOSTS if has_job else (*STAGES_OF_A_JOB, *STAGES_OF_HOSTS)
    return tuple(stage for stage in Stage if stage not in left_out)


class _Run:
    """The outcomes so far."""

    def __init__(self, config: PreflightConfig, machine: Machine, observer: PreflightObserver) -> None:
        self.config = config
        self.machine = machine
        self.observer = observer
        self.outcomes: dict[str, Outcome] = {}
        self.current: tuple[Probe, float] | None = None

    def take(self, outcome: Outcome) -> None:
        self.outcomes[outcome.code] = outcome
        self.observer.finished(outcome)

    def one(self, probe: Probe, skip: Collection[str]) -> None:
        reason = "left out by --skip" if probe.code in skip else self._missing(probe, skip)
        if reason:
            self.take(_ended(probe, Status.SKIPPED, reason=reason))
            return
        self.current = (probe, time.monotonic())
        self.observer.started(probe)
        self.take(examine(probe, self.machine, self.config))
        self.current = None

    def _missing(self, probe: Probe, skip: Collection[str]) -> str:
        known = {code: self.outcomes[code] for code in probe.requires if code in self.outcomes and code not in skip}
        missing = [outcome for outcome in known.values() if outcome.applies and not outcome.passed]
        return "needs " + ", ".join(f"{outcome.code}, {_how(outcome)}" for outcome in missing) if missing else ""

    def interrupted(self, chosen: Sequence[Probe]) -> None:
        """Says of what runs and of what has not run yet that Ctrl-C stopped it; shows nothing more."""
        for probe in chosen:
            if probe.code in self.outcomes:
                continue
            running = self.current is not None and self.current[0] is probe
            seconds = time.monotonic() - self.current[1] if running and self.current else 0.0
            reason = "interrupted while it ran" if running else "not reached before the interrupt"
            self.outcomes[probe.code] = _ended(probe, Status.SKIPPED, reason=reason, seconds=seconds)

    def verdict(self, seconds: float) -> Verdict:
        ordered = sorted(self.outcomes.values(), key=lambda outcome: STAGE_ORDER[Stage(outcome.stage)])
        return Verdict(outcomes=tuple(ordered), seconds=seconds)


def examine(probe: Probe, machine: Machine, config: PreflightConfig) -> Outcome:
    """Returns how one probe ended; only Ctrl-C passes through."""
    began = time.monotonic()
    try:
        result = probe.examine(machine, config)
        if not isinstance(result, ProbeResult):
            raise TypeError(f"probe() of {probe.code} returned {type(result).__name__}, not a Result")
    except Skip as skip:
        outcome = _ended(probe, Status.SKIPPED, reason=str(skip), seconds=time.monotonic() - began)
        return replace(outcome, applies=not isinstance(skip, NotApplicable))
    except ChildTimeout as late:
        return _ended(probe, Status.TIMED_OUT, reason=str(late), seconds=time.monotonic() - began)
    except (Exception, SystemExit) as error:
        return _ended(
            probe,
            Status.CRASHED,
            reason=f"{type(error).__name__}: {error}",
            detail=traceback.format_exc(),
            seconds=time.monotonic() - began,
        )
    return Outcome(
        code=probe.code,
        name=probe.name,
        stage=probe.stage,
        status=Status.DONE,
        title=result.title,
        seconds=time.monotonic() - began,
        findings=result.findings,
        measured=result.measured,
    )


def _ended(probe: Probe, status: Status, *, reason: str, detail: str = "", seconds: float = 0.0) -> Outcome:
    return Outcome(
        code=probe.code,
        name=probe.name,
        stage=probe.stage,
        status=status,
        title=probe.title,
        seconds=seconds,
        reason=reason,
        detail=detail,
    )


def _how(outcome: Outcome) -> str:
    match outcome.status:
        case Status.SKIPPED:
            return "which was skipped"
        case Status.TIMED_OUT:
            return "which gave no answer"
        case Status.CRASHED:
            return "which crashed"
        case _:
            return "which found an error"
