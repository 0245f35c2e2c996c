"""Bisects a model that fails: reproduces it, finds the settings it needs, then the module, and writes a script.

What one part cannot say costs its own answer, never those of the others.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.environments.versions import compare_versions
from diagnostics.bisection.found import Bisection
from diagnostics.bisection.progress import BisectionProgress
from diagnostics.bisection.report.files import shown_path, write_reports
from diagnostics.bisection.report.run_report import run_report_of
from diagnostics.bisection.repro.hand_over import hand_over
from diagnostics.bisection.search.axes_search import search_axes
from diagnostics.bisection.search.climbing import climb
from diagnostics.bisection.search.failing_case import failing, look_for_failure
from diagnostics.bisection.search.model_search import search_model
from diagnostics.bisection.search.shrinking import shrink
from diagnostics.bisection.search.strategies import compare_strategies
from diagnostics.bisection.targets.first_look import first_look, only_slow, proved_outside
from diagnostics.bisection.targets.ladder import climbed_lines, rungs_of
from diagnostics.bisection.targets.script_capture import training_command
from diagnostics.bisection.targets.traces import trace
from diagnostics.bisection.trial import Failure, Oracle, OutOfTries, Trial
from diagnostics.bisection.tries.one_run import RunEnvironment
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout, MachineError
from diagnostics.machine.this import open_machine
from diagnostics.report.run_report import RunReport
from diagnostics.supervisor.capture.snapshot import keep_text

SHRINKING_TRIES = 12
AXES_TRIES, OTHER_TRIES, STRATEGIES_TRIES = 4, 10, 4  # about as many as they ever take
FAULTS = "doctor-error.txt"


class CountingOracle(Oracle, Protocol):
    """An oracle that knows what is looked for, and counts."""

    sought: Failure | None
    tries: int

    def expect(self, more: int) -> None:
        """Says how many more tries there may be at most."""

    def recording(self, case: Configuration) -> Path | None:
        """Returns the file with what the modules of this model took and gave."""


class BisectionInterrupted(KeyboardInterrupt):
    """Ctrl-C came; `found` and `report` hold what was known by then."""

    def __init__(self, found: Bisection, report: RunReport) -> None:
        super().__init__()
        self.found, self.report = found, report


def bisect(
    wanted: BisectionRequest, oracle: CountingOracle, machine: Machine, progress: BisectionProgress
) -> tuple[Bisection, RunReport]:
    """Returns what was found, and the report of the failing case as a watched run.

    Raises UsageError where the model cannot be built or called as asked, Interrupted on Ctrl-C: by then the try that
    ran has ended.
    """
    work = _Work(wanted, oracle, machine, progress)
    try:
        work.all()
    except KeyboardInterrupt as stop:
        work.found = replace(work.found, undecided=work.found.undecided or "it was interrupted")
        raise BisectionInterrupted(*work.result()) from stop
    return work.result()


class _Work:
    """What is known so far, and the parts that find out more."""

    def __init__(
        self, wanted: BisectionRequest, oracle: CountingOracle, machine: Machine, progress: BisectionProgress
    ) -> None:
        self._wanted, self._oracle, self._machine, self._progress = wanted, oracle, machine, progress
        self._began, self._started = time.monotonic(), time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._seen: RunReport | None = None
        self._minimal: Trial | None = None
        self._healthy: Trial | None = None
        self.found = Bisection(
            name=wanted.name,
            attempts=(),
            notes=wanted.notes,
            folder=shown_path(wanted.folder),
            resume=wanted.resume,
            training=training_command(wanted.script),
        )
        (wanted.folder / FAULTS).unlink(missing_ok=True)

    def result(self) -> tuple[Bisection, RunReport]:
        """Returns what is known."""
        seconds = time.monotonic() - self._began
        found = replace(self.found, tries=self._oracle.tries, seconds=seconds)
        return found, run_report_of(found, self._seen, command=self._wanted.command, started=self._started)

    def all(self) -> None:
        """Goes through the parts; later ones rest on what earlier ones found."""
        trial = self._reproduced()
        if self._wanted.watch:
            self._part("the watched run", lambda: self._watched(trial))
        if trial is None or self._only_slow(trial):
            return
        self._oracle.sought = trial.failure
        self._part("the search for the settings it needs", lambda: self._axes(trial))
        if not self.found.outside:
            self._part("the search for the module", lambda: self._model(trial))
            self._part("making the case smaller", lambda: self._shrunk(trial))
            self._part("the ladder of its sizes", lambda: self._climbed(trial))
        self._part("the script that shows it", lambda: self._handed_over(trial))
        self._part("the comparison of ways of training it", lambda: self._strategies(trial))
        self._part("trying other settings", lambda: self._other_settings(trial))  # a compiler takes minutes
        if self._wanted.profile:
            self._part("the traces", self._traced)
        if self._wanted.environments:
            self._part("the comparison of versions", self._versions)

    def _part(self, what: str, work: Callable[[], None]) -> None:
        try:
            work()
        except OutOfTries:
            self._undecided(f"{what} was cut short by --max-tries {self._wanted.max_tries}")
        except (DoctorError, MachineError, ChildTimeout) as error:
            self._undecided(f"{what} came to nothing: {error}")
        except Exception as error:  # a fault of ours: it costs this part
            keep_text(self._wanted.folder.resolve() / FAULTS, redaction.text(traceback.format_exc()))
            self._undecided(f"{what} came to nothing: {type(error).__name__}: {error} ({FAULTS})")
        self._keep()

    def _keep(self) -> None:
        """Writes what is known by now: whoever kills us later has a report."""
        found, report = self.result()
        with suppress(OSError):  # said when the last one cannot be written either
            write_reports(replace(report, provisional=True), found, self._wanted.folder)

    def _undecided(self, why: str) -> None:
        self.found = replace(self.found, undecided=self.found.undecided or why, notes=(*self.found.notes, why))

    def _reproduced(self) -> Trial | None:
        """Returns the trial that fails, None where none does. Raises UsageError where the model cannot be run."""
        attempts = []
        try:
            for attempt in look_for_failure(self._wanted, self._oracle, gpus=self._gpus()):
                attempts.append(attempt)
                torch = attempt.trial.torch or self.found.torch
                self.found = replace(self.found, attempts=tuple(attempts), torch=torch)
        except OutOfTries:
            self._undecided(f"the search for a failing case was cut short by --max-tries {self._wanted.max_tries}")
        if attempts[0].trial.refusal:
            raise UsageError(attempts[0].trial.refusal, hint=attempts[0].trial.hint)
        one = failing(attempts)
        if one is None:
            return None
        trial = one.trial
        self.found = replace(
            self.found,
            failing=trial.case,
            minimal=trial.case,
            failure=trial.failure,
            failed=trial.failed,
            runs=trial.runs,
        )
        return trial

    def _gpus(self) -> int:
        return self._machine.ranks.torch_facts().device_count

    def _watched(self, trial: Trial | None) -> None:
        self._progress.doing("running the failing case under watch" if trial else "running the model under watch")
        self._seen = first_look(self._wanted, trial)
        self.found = replace(self.found, outside=proved_outside(self._seen) if trial is not None else "")

    def _only_slow(self, trial: Trial) -> bool:
        why = only_slow(trial, self._seen)
        if why:
            self.found = replace(self.found, failure=None, minimal=None, undecided=why)
        return bool(why)

    def _axes(self, trial: Trial) -> None:
        self._oracle.expect(AXES_TRIES + 2 * len(trial.tree).bit_length() + SHRINKING_TRIES + STRATEGIES_TRIES)
        axes = search_axes(self._oracle, trial, with_others=False)
        self._minimal, self._healthy = axes.minimal, axes.healthy
        self.found = replace(
            self.found,
            axes=axes.rows,
            minimal=axes.minimal.case,
            evidence=(*self.found.evidence, *axes.evidence),
        )

    def _other_settings(self, trial: Trial) -> None:
        """Tries what may heal it, or make no difference; after the module, since a compiler takes minutes."""
        self._oracle.expect(OTHER_TRIES + STRATEGIES_TRIES)
        threads = max(2, int(self._machine.limits.cpu_count()))
        axes = search_axes(self._oracle, trial, threads=threads, gpus=self._gpus())  # what is known is not tried again
        new = [line for line in axes.evidence if line not in self.found.evidence]
        self.found = replace(self.found, axes=axes.rows, evidence=(*self.found.evidence, *new))

    def _model(self, trial: Trial) -> None:
        self._oracle.expect(2 * len(trial.tree).bit_length() + SHRINKING_TRIES + OTHER_TRIES + STRATEGIES_TRIES)
        one = search_model(self._oracle, self._minimal or trial, healthy=self._healthy)
        self._minimal = one.minimal
        self.found = replace(
            self.found,
            minimal=one.minimal.case,
            modules=one.modules,
            relation=str(one.relation),
            within=one.within,
            heals=one.heals,
            fails_alone=one.fails_alone,
            module_class=one.class_name,
            module_place=one.place,
            outside=one.outside,
            undecided=self.found.undecided or one.undecided,
            tree=one.tree,
            evidence=(*self.found.evidence, *one.evidence),
            notes=(*self.found.notes, *one.notes),
        )

    def _shrunk(self, trial: Trial) -> None:
        if self._minimal is None or not self.found.modules:
            return
        self._oracle.expect(SHRINKING_TRIES + OTHER_TRIES + STRATEGIES_TRIES)
        one = shrink(self._oracle, self._minimal, trial.tree, tries=SHRINKING_TRIES)
        self._minimal = one.minimal
        self.found = replace(self.found, minimal=one.minimal.case, evidence=(*self.found.evidence, *one.steps))

    def _climbed(self, trial: Trial) -> None:
        """Asks where on the trainer's ladder of sizes the failure begins, with no more settings than it needs."""
        rungs = rungs_of(trial.case.source, python=self._wanted.python, child=self._machine.child)
        if not rungs or self.found.minimal is None:
            return
        self._oracle.expect(len(rungs).bit_length() + 1 + OTHER_TRIES + STRATEGIES_TRIES)
        whole = replace(trial.case, settings=self.found.minimal.settings)
        climbed = climb(self._oracle, self._oracle.ask(whole, "the whole model with what it needs"), rungs)
        self.found = replace(self.found, evidence=(*self.found.evidence, *climbed_lines(climbed)))

    def _strategies(self, trial: Trial) -> None:
        self._oracle.expect(STRATEGIES_TRIES)
        self.found = replace(self.found, strategies=compare_strategies(self._oracle, trial))

    def _handed_over(self, trial: Trial) -> None:
        self._progress.doing("writing the script that shows it")
        self.found = hand_over(self.found, self._wanted, trial.tree, self._machine.child, self._progress)

    def _traced(self) -> None:
        around = RunEnvironment(python=self._wanted.python, environ=os.environ, env=self._wanted.env)
        cases = {"failing": self.found.failing, "healthy": self._healthy_case()}
        for name, case in cases.items():
            if case is not None:
                self._progress.doing(f"tracing the {name} run")
                file = self._wanted.folder / f"trace-{name}.json"
                trace(case, file, self._machine.ranks, around, self._oracle.recording(case))

    def _versions(self) -> None:
        wanted, child = self._wanted, self._machine.child
        self.found = compare_versions(self.found, wanted, wanted.environments, open_machine, child, self._progress)

    def _healthy_case(self) -> Configuration | None:
        """Returns the last case that passes: without the culprit, else with other settings."""
        if self.found.failing is not None and self.found.modules and self.found.heals:
            return self.found.failing.without(*self.found.modules)
        return self._healthy.case if self._healthy is not None else None
