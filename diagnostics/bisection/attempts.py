"""Runs a case as often as wanted, each run under a deadline that healthy runs have set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from diagnostics.analysis.job_answers import last_line
from diagnostics.bisection.case import Case
from diagnostics.bisection.deadlines import Deadlines
from diagnostics.bisection.failures import fault_of_ours
from diagnostics.bisection.journal_tree import read_tree
from diagnostics.bisection.one_run import Asked, Surroundings, run_once
from diagnostics.bisection.rank_runs import out_of_time
from diagnostics.bisection.trial import Failure, Trial
from diagnostics.bisection.verdicts import one_verdict, trial_of
from diagnostics.checks import ChildTimeout
from diagnostics.errors import DoctorError
from diagnostics.machine import MachineError
from diagnostics.machine.contract import Ranks
from diagnostics.redact import text


class Attempts:
    """Runs cases. `sought`, once it is known, decides a case at the first run that shows it."""

    def __init__(
        self,
        around: Surroundings,
        *,
        repeat: int,
        deadline_s: float | None,
        memory_bytes: Callable[[Case], int],
    ) -> None:
        """`memory_bytes` gives the limit of one rank, 0 for none."""
        self.sought: Failure | None = None
        self._around, self._repeat, self._memory_bytes = around, repeat, memory_bytes
        self._deadlines = Deadlines(deadline_s)
        self._hangs: list[Failure] = []  # seen under the longer deadline

    def of(self, case: Case, ranks: Ranks, *, structures: Path | None, record: bool) -> Trial:
        """Returns one verdict over all runs. Raises DoctorError where no rank could be run."""
        runs: list[Trial] = []
        while len(runs) < self._repeat:
            runs.append(self._once(case, ranks, structures, record))
            if runs[-1].refusal or (self.sought is not None and runs[-1].shows(self.sought)):
                break
        return one_verdict(runs, self.sought)

    def _once(self, case: Case, ranks: Ranks, structures: Path | None, record: bool) -> Trial:
        """Runs the case once. A hang under a short deadline counts where it is known, else it is tried for longer."""
        deadline_s, longer_s = self._deadlines.usual(case), self._deadlines.longer(case)
        trial, late = self._under(case, ranks, structures, record, deadline_s)
        if late and deadline_s < longer_s and not any(trial.shows(hang) for hang in self._hangs):
            trial, late = self._under(case, ranks, structures, record, longer_s)
            deadline_s = longer_s
        if late and deadline_s == longer_s and trial.failure is not None:
            self._hangs.append(trial.failure)
        if trial.passed:
            self._deadlines.learn(case, trial.seconds)
        return trial

    def _under(
        self, case: Case, ranks: Ranks, structures: Path | None, record: bool, deadline_s: float
    ) -> tuple[Trial, bool]:
        """Returns what one run gave, and whether the deadline ended it."""
        limit = self._memory_bytes(case)
        asked = Asked(deadline_s=deadline_s, structures=structures, record=record, memory_bytes=limit)
        try:
            runs, seconds = run_once(case, asked, ranks, self._around)
        except (MachineError, ChildTimeout) as error:
            raise DoctorError(f"no rank could be run: {error}") from error
        broken = fault_of_ours(runs)
        if broken:
            raise DoctorError(f"the try itself is at fault, not the model: {last_line(broken)}", hint=text(broken))
        trial = trial_of(case, runs, seconds)
        if record and structures is not None:  # rank 0 wrote it as it went; its answer may be of before a crash
            trial = replace(trial, tree=read_tree(structures) or trial.tree)
        return trial, out_of_time(runs)
