"""Repairs cache files without loading them: plans, refuses what cannot be done safely, applies, and looks again.

Use it from Python:

    from pathlib import Path
    from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
    prepared = prepare([Path("cache")], Options())
    result = carry_out(prepared, Options())
    print(result.exit_code, result.left)
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from diagnostics.cache.repair.actions import Action, FileOutcome, FilePlan, RepairStatus
from diagnostics.cache.repair.in_use import Writers
from diagnostics.cache.repair.look import RepairRequest
from diagnostics.cache.repair.manifest_sizes import follow
from diagnostics.cache.repair.parallel import work_through
from diagnostics.cache.repair.paths import find_roots
from diagnostics.cache.repair.places import Places
from diagnostics.cache.repair.plan import RepairPlan, make_plan
from diagnostics.cache.repair.seconds import estimated_s
from diagnostics.cache.repair.space import Need, jobs_that_fit, refuse_without_space
from diagnostics.cache.repair.temporaries import stale_temporaries
from diagnostics.cache.repair.work import RepairWorker
from diagnostics.cache.scan.terminal import in_bytes
from diagnostics.core.stop_signal import interrupted_exit

if TYPE_CHECKING:  # it brings the machine and the job along, which no other repair needs
    from diagnostics.cache.repair.regenerate import Regeneration


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions:
    """What was asked for. `jobs` 0: the CPU cores."""

    jobs: int = 0
    compact: bool = False
    move_useless: bool = True
    quarantine: Path | None = None
    backup: Path | None = None
    to: Path | None = None

    @property
    def processes(self) -> int:
        """How many processes look at files."""
        return self.jobs or len(os.sched_getaffinity(0))

    @property
    def workers(self) -> int:
        """How many files are changed at once: most of the time each waits for its disk."""
        return self.jobs or max(4, self.processes)

    @property
    def wish(self) -> RepairRequest:
        """What each file is looked at for."""
        return RepairRequest(compact=self.compact, quarantine=self.move_useless, export=self.to is not None)


class RepairObserver(Protocol):
    """Told of progress, for a live line."""

    def looked(self, files: int, bad: int) -> None:
        """So many files were looked at, so many of them are bad."""

    def worked(self, done: int, of: int, written: int) -> None:
        """So many of so many files are finished; bytes written."""


class SilentRepair:
    """An observer that shows nothing."""

    def looked(self, files: int, bad: int) -> None:
        """Shows nothing."""

    def worked(self, done: int, of: int, written: int) -> None:
        """Shows nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan whose needs are known; nothing has been changed."""

    plan: RepairPlan
    places: Places
    needs: tuple[Need, ...]
    jobs: int
    estimated_s: float
    seconds: float
    leftovers: tuple[Path, ...]  # temporary files of repairs that were killed
    regeneration: Regeneration | None = None

    def with_regeneration(self, regeneration: Regeneration) -> Prepared:
        """Returns the same with damaged files of a cache made again by the program that made it."""
        plan, seconds = regeneration.added_to(self.plan), self.estimated_s + regeneration.seconds
        return replace(self, plan=plan, estimated_s=seconds, regeneration=regeneration)

    @property
    def exit_code(self) -> int:
        """Of a dry run: 0 nothing to do, 1 something is, 2 there is no cache file."""
        if self.plan.todo or self.plan.by(Action.LEAVE):
            return 1
        return 0 if self.plan.census.cache_files else 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """What became of all files. `after` is the same paths looked at again; None where Ctrl-C came before."""

    prepared: Prepared
    outcomes: tuple[FileOutcome, ...]
    after: RepairPlan | None
    seconds: float
    interrupted: bool

    @property
    def left(self) -> list[FileOutcome]:
        """Returns the files that could not be made right."""
        return [outcome for outcome in self.outcomes if outcome.status is not RepairStatus.DONE]

    @property
    def done(self) -> list[FileOutcome]:
        """Returns the files that were."""
        return [outcome for outcome in self.outcomes if outcome.status is RepairStatus.DONE]

    @property
    def exit_code(self) -> int:
        """0 all is clean now, 1 something is left wrong, 130 or 143 interrupted."""
        if self.interrupted:
            return interrupted_exit()
        return 1 if self.left or self.after is None or self.after.census.bad else 0


def prepare(paths: Sequence[Path], options: RepairOptions, observer: RepairObserver | None = None) -> Prepared:
    """Returns the plan for all files at and below `paths`; changes nothing.

    Raises UsageError for a wrong path or folder, DoctorError where the free space does not do.
    """
    began, watch = time.monotonic(), observer or SilentRepair()
    roots = find_roots(paths)
    places = Places(roots=roots, quarantine=options.quarantine, backup=options.backup, to=options.to)
    places.check()
    plan = make_plan(roots, options.wish, jobs=options.processes, target=places.with_target, watch=watch.looked)
    jobs, needs = jobs_that_fit(plan.todo, jobs=options.workers, backup=options.backup)
    return Prepared(
        plan=plan,
        places=places,
        needs=needs,
        jobs=jobs,
        estimated_s=estimated_s(plan.todo, jobs=jobs, backup=options.backup),
        seconds=time.monotonic() - began,
        leftovers=tuple(_leftovers(plan.todo)),
    )


def refuse(prepared: Prepared) -> None:
    """Raises DoctorError with both numbers where a file system lacks the space for the plan."""
    refuse_without_space(prepared.needs, in_bytes)


def carry_out(prepared: Prepared, options: RepairOptions, observer: RepairObserver | None = None) -> RepairResult:
    """Does what was planned and looks again; an interrupt ends it early, with what was done so far.

    Raises DoctorError before the first change where the free space does not do.
    """
    began, watch = time.monotonic(), observer or SilentRepair()
    refuse(prepared)
    for leftover in prepared.leftovers:
        leftover.unlink(missing_ok=True)
    todo = [file for file in prepared.plan.todo if file.action is not Action.REGENERATE]
    worker = RepairWorker(places=prepared.places, writers=Writers.of(todo), compact=options.compact)
    written = [0]
    watch.worked(0, len(todo), 0)

    def finished(outcome: FileOutcome) -> None:
        written.append(written[-1] + outcome.written)
        watch.worked(len(written) - 1, len(todo), written[-1])

    outcomes, interrupted = work_through(todo, worker.work, jobs=prepared.jobs, watch=finished)
    follow(outcomes)
    if prepared.regeneration and not interrupted:
        outcomes += [prepared.regeneration.carry_out(file) for file in prepared.plan.by(Action.REGENERATE)]
    left = [FileOutcome(plan=file, status=RepairStatus.LEFT, text=file.why) for file in prepared.plan.by(Action.LEAVE)]
    after = None if interrupted else _look_again(prepared, options, watch)
    return RepairResult(
        prepared=prepared,
        outcomes=(*outcomes, *left),
        after=after,
        seconds=time.monotonic() - began,
        interrupted=interrupted,
    )


def _look_again(prepared: Prepared, options: RepairOptions, watch: RepairObserver) -> RepairPlan | None:
    roots = find_roots([options.to]) if options.to and options.to.exists() else prepared.plan.roots.that_exist()
    try:
        return make_plan(roots, RepairRequest(), jobs=options.processes, target=lambda file: file, watch=watch.looked)
    except KeyboardInterrupt:
        return None


def _leftovers(files: Sequence[FilePlan]) -> list[Path]:
    names = (name for file in files for name in (file.target or file.real, *file.also))
    folders = {os.path.dirname(name) for name in names}  # noqa: PTH120 - strings throughout
    return [path for folder in sorted(folders) for path in stale_temporaries(Path(folder))]
