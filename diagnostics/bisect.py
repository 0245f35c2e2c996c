"""Bisects a model that fails: reproduces it, finds the settings it needs, then the module, and writes a script.

What one part cannot say costs its own answer, never those of the others.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import replace

from diagnostics import redact
from diagnostics.bisection.case import Case
from diagnostics.bisection.failing_case import failing, look_for_failure
from diagnostics.bisection.found import Bisection
from diagnostics.bisection.progress import Progress
from diagnostics.bisection.run_report_of import run_report_of
from diagnostics.bisection.trial import Kind, Oracle, OutOfTries, Trial
from diagnostics.bisection.wanted import Wanted
from diagnostics.bisection.watched import watched
from diagnostics.capture import keep_text
from diagnostics.checks import ChildTimeout
from diagnostics.errors import DoctorError, UsageError
from diagnostics.machine import MachineError
from diagnostics.matches import JobOutcome
from diagnostics.run_report import RunReport

STALL_S = {True: 10.0, False: 60.0}  # whether it is known to hang


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came; `found` and `report` hold what was known by then."""

    def __init__(self, found: Bisection, report: RunReport) -> None:
        super().__init__()
        self.found, self.report = found, report


def bisect(
    wanted: Wanted, oracle: Oracle, progress: Progress, *, gpus: int = 0, threads: int = 2
) -> tuple[Bisection, RunReport]:
    """Returns what was found, and the report of the failing case as a watched run.

    Raises UsageError where the model cannot be built or called as asked, Interrupted on Ctrl-C: by then the try that
    ran has ended.
    """
    work = _Work(wanted, oracle, progress, gpus=gpus, threads=threads)
    try:
        work.all()
    except KeyboardInterrupt as stop:
        work.found = replace(work.found, undecided=work.found.undecided or "interrupted before it came to its end")
        raise Interrupted(*work.result()) from stop
    return work.result()


class _Work:
    """What is known so far, and the parts that find out more."""

    def __init__(self, wanted: Wanted, oracle: Oracle, progress: Progress, *, gpus: int, threads: int) -> None:
        self._wanted, self._oracle, self._progress = wanted, oracle, progress
        self._gpus, self._threads = gpus, threads
        self._began, self._started = time.monotonic(), time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._seen: RunReport | None = None
        self._minimal: Trial | None = None
        self._healthy: Trial | None = None
        self.found = Bisection(name=wanted.name, attempts=())

    def result(self) -> tuple[Bisection, RunReport]:
        found = replace(
            self.found,
            tries=getattr(self._oracle, "tries", 0),
            seconds=time.monotonic() - self._began,
        )
        return found, run_report_of(found, self._seen, command=self._wanted.command, started=self._started)

    def all(self) -> None:
        """Goes through the parts; later ones rest on what earlier ones found."""
        trial = self._reproduced()
        if self._wanted.watch and self._wanted.cases:
            case = trial.case if trial is not None else self._wanted.cases[0]
            self._part("the watched run", lambda: self._watched(case, trial))
        if trial is None:
            return
        self._part("the search for the settings it needs", lambda: self._axes(trial))
        self._part("the search for the module", lambda: self._model(trial))
        self._part("the comparison of ways of training it", lambda: self._strategies(trial))

    def _part(self, what: str, work: Callable[[], None]) -> None:
        try:
            work()
        except OutOfTries:
            most = self._wanted.max_tries
            self._undecided(f"{what} was cut short by --max-tries{f' {most}' if most else ''}")
        except (DoctorError, MachineError, ChildTimeout) as error:
            self._undecided(f"{what} came to nothing: {error}")
        except Exception as error:  # a fault of ours: it costs this part
            keep_text(self._wanted.folder / "doctor-error.txt", redact.text(traceback.format_exc()))
            self._undecided(f"{what} came to nothing: {type(error).__name__}: {error} (doctor-error.txt)")

    def _undecided(self, why: str) -> None:
        self.found = replace(self.found, undecided=self.found.undecided or why, notes=(*self.found.notes, why))

    def _reproduced(self) -> Trial | None:
        """Returns the trial that fails, None where none does. Raises UsageError where the model cannot be run."""
        attempts = []
        for attempt in look_for_failure(self._wanted, self._oracle, gpus=self._gpus):
            attempts.append(attempt)
            self.found = replace(self.found, attempts=tuple(attempts), torch=attempt.trial.torch or self.found.torch)
        if all(one.trial.refusal for one in attempts):
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

    def _watched(self, case: Case, trial: Trial | None) -> None:
        self._progress.doing("running the failing case under watch" if trial else "running the model under watch")
        hangs = trial is not None and trial.failure is not None and trial.failure.kind is Kind.HANG
        folder = self._wanted.folder / ("failing-run" if trial else "run")
        for number in range(max(1, self._wanted.repeat if trial else 1)):
            place = folder if number == 0 else folder.with_name(f"{folder.name}-{number + 1}")
            self._seen = watched(case, place, python=self._wanted.python, stall_s=STALL_S[hangs])
            if trial is None or self._seen is None or self._seen.outcome is not JobOutcome.OK:
                return

    def _axes(self, trial: Trial) -> None:
        from diagnostics.bisection.axes_search import search_axes

        axes = search_axes(self._oracle, trial, threads=self._threads, gpus=self._gpus)
        self._minimal, self._healthy = axes.minimal, axes.healthy
        evidence = (*self.found.evidence, *axes.evidence)
        self.found = replace(self.found, axes=axes.rows, minimal=axes.minimal.case, evidence=evidence)

    def _strategies(self, trial: Trial) -> None:
        from diagnostics.bisection.strategies import compare_strategies

        self.found = replace(self.found, strategies=compare_strategies(self._oracle, trial))

    def _model(self, trial: Trial) -> None:
        from diagnostics.bisection.model_search import search_model

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
