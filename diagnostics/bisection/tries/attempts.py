"""Runs a case as often as wanted, each run under a deadline that healthy runs have set.

How long a try may take: much longer than those that came to their end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.trial import Failure, FailureKind, Trial
from diagnostics.bisection.tries.failures import fault_of_ours, one_verdict, trial_of, with_origin
from diagnostics.bisection.tries.journal_tree import read_tree
from diagnostics.bisection.tries.one_run import RunEnvironment, RunRequest, run_once
from diagnostics.bisection.tries.rank_runs import RankRun, out_of_time
from diagnostics.bisection.tries.tries_file import FAULT_OF_OURS
from diagnostics.core.errors import DoctorError
from diagnostics.core.redaction import text
from diagnostics.core.wording import last_line
from diagnostics.machine.contract import Ranks
from diagnostics.machine.facts import ChildTimeout, MachineError

FIRST_S = 60.0
COMPILING_S = 300.0  # a first compile may take minutes
COMPILING_FACTOR = 10.0  # of what the same takes as it is, beside FIRST_S
LEAST_S = 5.0
FACTOR = 6.0
LEAST_LONGER_S = 20.0
LONGER = 4.0

# How long ranks must stand still to be taken for stuck: nobody runs, nobody waits for a disk. A factory may wait for a
# download, so the first such end needs longer than one that is known.
HANG_IDLE_S = 15.0
KNOWN_HANG_IDLE_S = 4.0


class Attempts:
    """Runs cases. `sought`, once it is known, decides a case at the first run that shows it."""

    def __init__(
        self,
        around: RunEnvironment,
        *,
        repeat: int,
        deadline_s: float | None,
        memory_bytes: Callable[[Configuration], int],
    ) -> None:
        """`memory_bytes` gives the limit of one rank, 0 for none."""
        self.sought: Failure | None = None
        self._around, self._repeat, self._memory_bytes = around, repeat, memory_bytes
        self._deadlines = Deadlines(deadline_s)
        self._hangs: list[Failure] = []  # seen under the longer deadline

    def of(self, case: Configuration, ranks: Ranks, *, structures: Path | None, record: bool) -> Trial:
        """Returns one verdict over all runs. Raises DoctorError where no rank could be run."""
        asked = RunRequest(structures=structures, record=record, memory_bytes=self._memory_bytes(case))
        runs: list[Trial] = []
        while len(runs) < self._repeat:
            runs.append(self._once(case, ranks, asked))
            if runs[-1].refusal or (self.sought is not None and runs[-1].shows(self.sought)):
                break
        trial = one_verdict(runs, self.sought)
        if record and trial.failure is not None and trial.failure.kind is FailureKind.NONFINITE:
            return self._with_origin(trial, trial.failure, ranks, asked)
        return trial

    def _once(self, case: Configuration, ranks: Ranks, asked: RunRequest) -> Trial:
        """Runs the case once. A hang under a short deadline counts where it is known, else it is tried for longer."""
        deadline_s, longer_s = self._deadlines.usual(case), self._deadlines.longer(case)
        idle_s = KNOWN_HANG_IDLE_S if self._hangs else HANG_IDLE_S
        trial, late = self._under(case, ranks, replace(asked, deadline_s=deadline_s, idle_s=idle_s))
        short = deadline_s < longer_s or idle_s < HANG_IDLE_S
        if late and short and not any(trial.shows(hang) for hang in self._hangs):
            trial, late = self._under(case, ranks, replace(asked, deadline_s=longer_s, idle_s=HANG_IDLE_S))
            deadline_s = longer_s
        if late and deadline_s == longer_s and trial.failure is not None:
            self._hangs.append(trial.failure)
        if trial.passed:
            self._deadlines.learn(case, trial.seconds)
        return trial

    def _with_origin(self, trial: Trial, failure: Failure, ranks: Ranks, asked: RunRequest) -> Trial:
        """Returns the trial with the module that first made what is no number, where one more run tells it."""
        again = replace(asked, deadline_s=self._deadlines.longer(trial.case), origin=True, record=False)
        runs, _ = self._run(trial.case, ranks, again)
        return replace(trial, failure=with_origin(failure, runs, cwd=str(Path.cwd())))

    def _under(self, case: Configuration, ranks: Ranks, asked: RunRequest) -> tuple[Trial, bool]:
        """Returns what one run gave, and whether the deadline ended it."""
        runs, seconds = self._run(case, ranks, asked)
        broken = text(fault_of_ours(runs))
        if broken:  # said as a refusal: other cases may still tell
            return Trial(case=case, refusal=f"{FAULT_OF_OURS}: {last_line(broken)}", hint=broken), False
        trial = trial_of(case, runs, seconds)
        if asked.record and asked.structures is not None:  # its answer may be of before a crash
            seen = read_tree(asked.structures)  # without paths where no forward began
            trial = replace(trial, tree=max(seen, trial.tree, key=lambda nodes: sum(bool(node.path) for node in nodes)))
        return trial, out_of_time(runs)

    def _run(self, case: Configuration, ranks: Ranks, asked: RunRequest) -> tuple[list[RankRun], float]:
        try:
            return run_once(case, asked, ranks, self._around)
        except MachineError as error:  # the warm child was killed, as by a kernel short of memory: once more
            if threading.current_thread() is not threading.main_thread():  # ended on purpose, or to end with this one
                raise DoctorError(f"no rank could be run: {error}") from error
            ranks.warm(for_modules=True)
        try:
            return run_once(case, asked, ranks, self._around)
        except (MachineError, ChildTimeout) as error:
            raise DoctorError(f"no rank could be run: {error}") from error


class Deadlines:
    """Deadlines by what healthy tries took; those that compile are judged among themselves."""

    def __init__(self, most_s: float | None = None) -> None:
        """`most_s` is the user's own limit of one try."""
        self._most_s = most_s
        self._slowest: dict[bool, float] = {}

    def usual(self, case: Configuration) -> float:
        """Returns the deadline as healthy tries suggest it; the longest one where there was none yet."""
        slowest = self._slowest.get(case.settings.compile)
        return self._first(case) if slowest is None else min(self._first(case), max(LEAST_S, FACTOR * slowest))

    def longer(self, case: Configuration) -> float:
        """Returns the deadline under which a hang is believed that was never seen before."""
        if case.settings.compile not in self._slowest:
            return self._first(case)
        return min(self._first(case), max(LEAST_LONGER_S, LONGER * self.usual(case)))

    def learn(self, case: Configuration, seconds: float) -> None:
        """Notes what a try took that came to its end."""
        key = case.settings.compile
        self._slowest[key] = max(self._slowest.get(key, 0.0), seconds)

    def _first(self, case: Configuration) -> float:
        """Returns the deadline of a case about which nothing is known."""
        if self._most_s is not None:
            return self._most_s
        if not case.settings.compile:
            return FIRST_S
        eager = self._slowest.get(False)
        return COMPILING_S if eager is None else min(COMPILING_S, FIRST_S + COMPILING_FACTOR * eager)
