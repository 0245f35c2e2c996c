"""Tries cases in fresh ranks, each once, and keeps what came out; see `trial.Oracle`.

The oracle for what was asked for: where its ranks run, and what is known from earlier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.place import TRIES
from diagnostics.bisection.progress import BisectionProgress
from diagnostics.bisection.trial import Failure, OutOfTries, Trial
from diagnostics.bisection.tries.attempts import Attempts
from diagnostics.bisection.tries.lanes import Lanes
from diagnostics.bisection.tries.one_run import RunEnvironment, may_fork
from diagnostics.bisection.tries.recording import base_of, best_recording, file_of, records
from diagnostics.bisection.tries.side_effects import FolderState, what_will_run, written_line
from diagnostics.bisection.tries.source_stamp import source_stamp
from diagnostics.bisection.tries.tries_file import TriesFile, known_case
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.machine.contract import Machine, Ranks
from diagnostics.machine.execution.ranks import TorchRanks

LEAST_BYTES = 1 << 30  # threads and libraries alone reserve hundreds of MiB
KEPT_FREE = 0.1  # of the memory that is free when a try begins
WHAT_MODULES_GIVE = "the model as it is, for what its modules give"


class Tries:
    """The Oracle that runs cases. Set `sought` once it is known: it decides a case at its first run that shows it."""

    def __init__(
        self,
        ranks: Ranks,
        around: RunEnvironment,
        folder: Path,
        file: TriesFile,
        progress: BisectionProgress,
        *,
        repeat: int = 1,
        deadline_s: float | None = None,
        max_tries: int | None = None,
        memory_bytes: int = 0,
        available_bytes: Callable[[], int] | None = None,
        jobs: int | None = None,
        cores: float = 1.0,
    ) -> None:
        """`folder` takes the recordings; `max_tries` counts cases that are run, not those known from `file`.

        `available_bytes` gives what a try may take of the memory where `memory_bytes`, the limit of a rank, is 0.
        """
        self.most: int | None = max_tries  # of tries, as far as it is known
        self.tries = 0
        self._file, self._progress, self._around = file, progress, around
        self._folder, self._recordings = folder, folder / "structures"
        self._max_tries, self._memory_bytes, self._available_bytes = max_tries, memory_bytes, available_bytes
        self._attempts = Attempts(around, repeat=repeat, deadline_s=deadline_s, memory_bytes=self._limit)
        self._lanes = Lanes(ranks, lambda: TorchRanks(around.python), jobs=jobs, cores=cores)
        self._side_by_side = 1
        self._told = False  # what will run, and what the first try wrote
        self._seconds = 0.0

    @property
    def sought(self) -> Failure | None:
        """The failure that is looked for."""
        return self._attempts.sought

    @sought.setter
    def sought(self, failure: Failure | None) -> None:
        self._attempts.sought = failure

    def ask(self, case: Configuration, why: str) -> Trial:
        """Returns what the case gives; see trial.Oracle. Raises OutOfTries, DoctorError."""
        return self.ask_all([(case, why)])[0]

    def ask_all(self, cases: Sequence[tuple[Configuration, str]]) -> list[Trial]:
        """Returns what each case gives, side by side where the cores have room. Raises OutOfTries, DoctorError."""
        unknown = {case.key: (case, why) for case, why in cases if known_case(self._file, case) is None}
        bases = {base_of(case).key: base_of(case) for case, _ in unknown.values() if self._lacks_recording(case)}
        self._try([(base, WHAT_MODULES_GIVE) for base in bases.values()])
        self._try(list(unknown.values()))
        found = [known_case(self._file, case) for case, _ in cases]
        if None in found:
            raise OutOfTries(f"{self.tries} cases were tried, as many as were allowed")
        return [trial for trial in found if trial is not None]

    def expect(self, more: int) -> None:
        """Says how many more tries there may be at most, for the progress."""
        most = self.tries + more
        self.most = most if self._max_tries is None else min(most, self._max_tries)

    def recording(self, case: Configuration) -> Path | None:
        """Returns the file with what the modules of this model took and gave, None where no run has left one."""
        return best_recording(self._recordings, case, self._file.known.values())

    def close(self) -> None:
        """Ends all ranks; they start again when a case is asked for."""
        self._lanes.close()

    def _lacks_recording(self, case: Configuration) -> bool:
        return not records(case) and self.recording(case) is None and known_case(self._file, base_of(case)) is None

    def _try(self, cases: Sequence[tuple[Configuration, str]]) -> None:
        """Tries what is not known, as far as the number of tries allows."""
        cases = [(case, why) for case, why in cases if known_case(self._file, case) is None]
        if not cases:
            return
        allowed = cases if self._max_tries is None else cases[: max(0, self._max_tries - self.tries)]
        before = self._first_look(allowed)
        forked = [one for one in allowed if may_fork(one[0], self._lanes.warmed(), self._around)]
        self._side_by_side = self._lanes.room_for([case for case, _ in forked])
        together = forked if self._side_by_side > 1 else []
        self._try_together(together)
        self._side_by_side = 1
        for case, why in allowed:
            if (case, why) not in together:
                self._announce(why)
                self._keep(self._tried(case, self._lanes.warmed()), why)
        if before is not None and (line := written_line(before.written())):
            self._progress.say(line)

    def _try_together(self, cases: Sequence[tuple[Configuration, str]]) -> None:
        tasks = [lambda ranks, case=case: self._tried(case, ranks) for case, _ in cases]
        results = self._lanes.run(tasks, self._side_by_side, lambda number: self._announce(cases[number][1]))
        for (_, why), trial in zip(cases, results, strict=True):
            self._keep(trial, why)

    def _first_look(self, cases: Sequence[tuple[Configuration, str]]) -> FolderState | None:
        """Says what will run before the first try; returns the state of the current folder before it."""
        if self._told or not cases:
            return None
        self._told = True
        self._progress.say(what_will_run(cases[0][0].source))
        return FolderState(Path.cwd(), but=self._folder)

    def _announce(self, why: str) -> None:
        self.tries += 1
        done = self.tries - 1
        left_s = self._seconds / done * (self.most - done) if done and self.most is not None else None
        self._progress.trying(why, number=self.tries, most=self.most, left_s=left_s)

    def _tried(self, case: Configuration, ranks: Ranks) -> Trial:
        recording = file_of(self._recordings, case) if records(case) else self.recording(case)
        if recording is not None:
            recording.parent.mkdir(parents=True, exist_ok=True)
        return self._attempts.of(case, ranks, structures=recording, record=records(case))

    def _keep(self, trial: Trial, why: str) -> None:
        self._file.add(trial)
        self._seconds += trial.seconds * trial.runs
        self._progress.tried(why, trial)

    def _limit(self, case: Configuration) -> int:
        """Returns the bytes that a rank may take."""
        if self._memory_bytes or self._available_bytes is None:
            return self._memory_bytes
        share = self._available_bytes() * (1 - KEPT_FREE)
        return max(LEAST_BYTES, int(share / case.settings.world / self._side_by_side))


def open_tries(wanted: BisectionRequest, machine: Machine, progress: BisectionProgress) -> Tries:
    """Returns the oracle of one bisection. Raises MachineError, ChildTimeout where torch cannot be imported."""
    torch = machine.ranks.torch_facts()
    stamp = {"python": torch.python, "torch": torch.torch, "folder": str(Path.cwd())}
    stamp["the source"] = source_stamp(wanted.sources, Path.cwd())
    file = TriesFile(wanted.folder / TRIES, stamp)
    if file.set_aside:
        progress.say(f"the tries in {TRIES} do not count: {file.set_aside}")
    return Tries(
        machine.ranks,
        RunEnvironment(python=wanted.python, environ=os.environ, env=wanted.env),
        wanted.folder,
        file,
        progress,
        repeat=wanted.repeat,
        deadline_s=wanted.deadline_s,
        max_tries=wanted.max_tries,
        memory_bytes=wanted.memory_bytes,
        available_bytes=machine.memory.available_bytes,
        jobs=wanted.jobs,
        cores=machine.limits.cpu_count(),
    )
