"""The plan for many files: what is wrong now and what will be done, made without changing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from diagnostics.cache.file_scan import HARMLESS_DEVICES, FileScan
from diagnostics.cache.repair.actions import CHANGING, Action, FilePlan
from diagnostics.cache.repair.hard_links import joined
from diagnostics.cache.repair.in_use import Writers, left_to_its_writer
from diagnostics.cache.repair.look import Assessment, RepairRequest, look, not_entered, unreadable
from diagnostics.cache.repair.parallel import over_files
from diagnostics.cache.repair.paths import Roots, files_below
from diagnostics.cache.scan.files import LINKED_FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What the files hold: counts of files, small whatever their number."""

    files: int
    cache_files: int  # of a known format
    bytes: int  # of those
    bad: int  # with something wrong at error level
    devices: dict[str, int]  # files that name a device other than the CPU
    problems: dict[str, int]  # files by what is wrong
    warnings: dict[str, int]  # files by what is odd and not touched


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """All that is wrong, and what will be done about it; `files` are those with something to do or to say."""

    roots: Roots
    census: Census
    files: tuple[FilePlan, ...]
    unseen: int = 0  # processes that may write to one of the files unseen; 0 where the kernel answers for all

    def by(self, *actions: Action) -> list[FilePlan]:
        """Returns the files with one of these actions."""
        return [file for file in self.files if file.action in actions]

    @property
    def todo(self) -> list[FilePlan]:
        """Returns the files that will be changed, moved or copied."""
        return [file for file in self.files if file.action in CHANGING]


class AssessmentCounter:
    """Adds looks up as they come."""

    def __init__(self) -> None:
        self.files = self.cache_files = self.bytes = self.bad = 0
        self.devices: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()

    def add(self, one: Assessment) -> None:
        """Counts one more file."""
        self.files += 1
        if one.skipped:
            return
        self.cache_files += 1
        self.bytes += one.size
        self.bad += bool(one.problems)
        self.devices.update(device for device in one.devices if device not in HARMLESS_DEVICES)
        self.problems.update(one.problems)
        self.warnings.update(one.warnings)

    def census(self) -> Census:
        """Returns the counts."""
        return Census(
            files=self.files,
            cache_files=self.cache_files,
            bytes=self.bytes,
            bad=self.bad,
            devices=dict(sorted(self.devices.items())),
            problems=dict(sorted(self.problems.items())),
            warnings=dict(sorted(self.warnings.items())),
        )


def make_plan(
    roots: Roots,
    wish: RepairRequest,
    *,
    jobs: int,
    target: Callable[[FilePlan], FilePlan],
    watch: Callable[[int, int], None],
) -> RepairPlan:
    """Returns the plan. `target` says where a file is moved or copied to; `watch` is told of files looked at and bad.

    Raises DoctorError where a process that looks at files died.
    """
    counting = AssessmentCounter()
    found: dict[str, FilePlan] = {}
    written: set[str] = set()
    undecided = False
    aside: list[FileScan] = []
    for path, one in over_files(partial(look, wish=wish), files_below(roots, aside), jobs=jobs):
        counting.add(one)
        watch(counting.files, counting.bad)
        # A link beside the file it leads to: the file is repaired once, under its own name.
        if one.plan and (one.plan.real not in found or one.plan.real == path):
            found[one.plan.real] = target(one.plan)
            written.update([one.plan.real] * (one.written is True))
            undecided |= one.written is None and one.plan.action in CHANGING
    found |= {scan.path: unreadable(scan.path, scan.problems[0]) for scan in aside if scan.problems}
    if wish.export:  # a copy that lacks a part says so
        found |= {scan.path: not_entered(scan.path, scan.skipped) for scan in aside if scan.skipped == LINKED_FOLDER}
    plans = joined(found.values())
    writers = Writers.of([file for file in plans if file.action in CHANGING])
    files = tuple(_settled(plans, written, writers))
    return RepairPlan(roots=roots, census=counting.census(), files=files, unseen=writers.unseen if undecided else 0)


def _settled(plans: Sequence[FilePlan], written: set[str], writers: Writers) -> Iterator[FilePlan]:
    for file in plans:
        use = writers.use_of(file)
        changes = file.action in CHANGING
        yield left_to_its_writer(file, use) if changes and (use or file.real in written) else file
