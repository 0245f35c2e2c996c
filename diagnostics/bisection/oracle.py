"""Tries cases in fresh ranks, each once, and keeps what came out; see `trial.Oracle`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diagnostics.analysis.job_answers import last_line
from diagnostics.bisection.case import Case
from diagnostics.bisection.deadlines import Deadlines
from diagnostics.bisection.failures import failure_of, fault_of_ours
from diagnostics.bisection.one_run import Asked, Surroundings, run_once
from diagnostics.bisection.progress import Progress
from diagnostics.bisection.rank_runs import RankRun, out_of_time
from diagnostics.bisection.recorded import base_of, best_recording, file_of, records
from diagnostics.bisection.trial import Failure, OutOfTries, Trial
from diagnostics.bisection.tries_file import TriesFile, known_case, read_node
from diagnostics.checks import ChildTimeout
from diagnostics.errors import DoctorError
from diagnostics.machine import MachineError
from diagnostics.machine.contract import Ranks
from diagnostics.redact import text


class Tries:
    """The Oracle that runs cases. `sought`, once it is known, decides a case at its first run that shows it."""

    def __init__(
        self,
        ranks: Ranks,
        around: Surroundings,
        folder: Path,
        file: TriesFile,
        progress: Progress,
        *,
        repeat: int = 1,
        deadline_s: float | None = None,
        max_tries: int | None = None,
        memory_bytes: int = 0,
    ) -> None:
        """`folder` takes the recordings; `max_tries` counts cases that are run, not those known from `file`."""
        self.sought: Failure | None = None
        self.most: int | None = max_tries  # of tries, as far as it is known
        self.tries = 0
        self._ranks, self._around, self._file, self._progress = ranks, around, file, progress
        self._recordings = folder / "structures"
        self._repeat, self._max_tries, self._memory_bytes = repeat, max_tries, memory_bytes
        self._deadlines = Deadlines(deadline_s)
        self._hangs: list[Failure] = []  # seen under a generous deadline
        self._seconds = 0.0

    def ask(self, case: Case, why: str) -> Trial:
        """Returns what the case gives; see trial.Oracle. Raises OutOfTries, DoctorError."""
        known = known_case(self._file, case)
        if known is not None:
            return known
        if not records(case) and self.recording(case) is None:
            self.ask(base_of(case), "the model as it is, for what its modules give")
        self._announce(why)
        trial = self._tried(case)
        self._file.add(trial)
        self._seconds += trial.seconds * trial.runs
        self._progress.tried(why, trial)
        return trial

    def ask_all(self, cases: Sequence[tuple[Case, str]]) -> list[Trial]:
        """Returns what each case gives."""
        return [self.ask(case, why) for case, why in cases]

    def expect(self, more: int) -> None:
        """Says how many more tries there may be at most, for the progress."""
        most = self.tries + more
        self.most = most if self._max_tries is None else min(most, self._max_tries)

    def _announce(self, why: str) -> None:
        if self._max_tries is not None and self.tries >= self._max_tries:
            raise OutOfTries(f"{self.tries} cases were tried, as many as were allowed")
        self.tries += 1
        done = self.tries - 1
        left_s = self._seconds / done * (self.most - done) if done and self.most is not None else None
        self._progress.trying(why, number=self.tries, most=self.most, left_s=left_s)

    def _tried(self, case: Case) -> Trial:
        """Runs the case as often as wanted; one verdict over all runs."""
        runs: list[Trial] = []
        while len(runs) < self._repeat:
            runs.append(self._once(case))
            if runs[-1].refusal or (self.sought is not None and runs[-1].shows(self.sought)):
                break
        return _one_verdict(runs, self.sought)

    def _once(self, case: Case) -> Trial:
        """Runs the case once. A hang under a short deadline counts where it is known, else it is tried for longer."""
        trial, late = self._under(case, self._deadlines.usual(case))
        if not late:
            if trial.passed:
                self._deadlines.learn(case, trial.seconds)
            return trial
        short = self._deadlines.usual(case) < self._deadlines.generous(case)
        if short and any(trial.shows(hang) for hang in self._hangs):
            return trial
        if short:
            trial, late = self._under(case, self._deadlines.generous(case))
        if late and trial.failure is not None:
            self._hangs.append(trial.failure)
        return trial

    def _under(self, case: Case, deadline_s: float) -> tuple[Trial, bool]:
        """Returns what one run gave, and whether the deadline ended it."""
        recording = file_of(self._recordings, case) if records(case) else self.recording(case)
        if recording is not None:
            recording.parent.mkdir(parents=True, exist_ok=True)
        asked = Asked(
            deadline_s=deadline_s,
            structures=recording,
            record=records(case),
            memory_bytes=self._memory_bytes,
        )
        try:
            runs, seconds = run_once(case, asked, self._ranks, self._around)
        except (MachineError, ChildTimeout) as error:
            raise DoctorError(f"no rank could be run: {error}") from error
        broken = fault_of_ours(runs)
        if broken:
            raise DoctorError(f"the try itself is at fault, not the model: {last_line(broken)}", hint=text(broken))
        return _trial(case, runs, seconds), out_of_time(runs)

    def recording(self, case: Case) -> Path | None:
        """Returns the file with what the modules of this model took and gave, None where no run has left one."""
        return best_recording(self._recordings, case, self._file.known.values())


def _trial(case: Case, runs: Sequence[RankRun], seconds: float) -> Trial:
    answers = [run.answer for run in runs if run.answer is not None]
    refused = next((answer for answer in answers if answer.refusal), None)
    failure = failure_of(runs, wrapper=case.settings.wrapper, cwd=str(Path.cwd())) if refused is None else None
    tree = next((answer.tree for answer in answers if answer.tree), ())
    return Trial(
        case=case,
        failure=failure,
        refusal=refused.refusal if refused is not None else "",
        hint=refused.hint if refused is not None else "",
        seconds=round(seconds, 3),
        failed=int(failure is not None),
        tree=tuple(read_node(node) for node in tree),
        torch=answers[0].torch if answers else "",
    )


def _one_verdict(runs: Sequence[Trial], sought: Failure | None) -> Trial:
    """Returns one trial for all runs: of several ways to fail the one that is sought, else the most frequent."""
    failures = [run.failure for run in runs if run.failure is not None]
    wanted = [failure for failure in failures if sought is not None and failure.same_as(sought)]
    shown = wanted[0] if wanted else max(failures, key=lambda one: sum(map(one.same_as, failures)), default=None)
    first = next((run for run in runs if run.refusal or run.failure is shown), runs[0])
    return replace(
        first,
        failure=shown,
        seconds=round(sum(run.seconds for run in runs) / len(runs), 3),
        runs=len(runs),
        failed=sum(shown.same_as(failure) for failure in failures) if shown is not None else 0,
        tree=max((run.tree for run in runs), key=len),
    )
