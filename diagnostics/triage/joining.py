"""Which traces belong to one run: those of one file, one id, one process, or whose text names the other. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from diagnostics.triage.run import TrackedRun
from diagnostics.triage.trace import RunTrace

SAME_PROCESS_S = 3600.0  # a process that logs to two trackers begins both within this time


def joined(traces: Sequence[RunTrace]) -> list[TrackedRun]:
    """Returns the runs in the order of their starts; those without a time come last."""
    groups = _Groups(len(traces))
    for keys in (_by_path, _by_name):
        seen: dict[object, int] = {}
        for number, trace in enumerate(traces):
            for key in keys(trace):
                groups.unite(number, seen.setdefault(key, number))
    _one_process(traces, groups)
    _lone_neighbours(traces, groups)
    members: dict[int, list[RunTrace]] = defaultdict(list)
    for number, trace in enumerate(traces):
        members[groups.of(number)].append(trace)
    runs = [TrackedRun(tuple(found)) for found in members.values()]
    return sorted(runs, key=lambda run: (run.started_s is None, run.started_s or 0.0, run.name))


def _by_path(trace: RunTrace) -> Iterator[object]:
    if not trace.is_tracker:  # several readers may read one log
        yield trace.path
    yield from (name for name in trace.aliases if name.startswith("/"))  # a log that names the folder of its run


def _by_name(trace: RunTrace) -> Iterator[object]:
    """Ids as others may name them; the name of a folder or a log is nobody's id."""
    if trace.source in ("wandb", "mlflow", "mlflow-database"):
        yield trace.run_id
    yield from trace.aliases


def _one_process(traces: Sequence[RunTrace], groups: _Groups) -> None:
    """Joins what one process told two trackers; two runs in one tracker are two, whoever made them."""
    by_process: dict[int, list[int]] = defaultdict(list)
    for number, trace in enumerate(traces):
        if trace.pid is not None and trace.started_s is not None:
            by_process[trace.pid].append(number)
    for numbers in by_process.values():
        sources = Counter(traces[number].source for number in numbers)
        starts = [traces[number].started_s or 0.0 for number in numbers]
        hosts = {traces[number].host for number in numbers} - {""}
        if max(sources.values()) == 1 and max(starts) - min(starts) < SAME_PROCESS_S and len(hosts) < 2:
            for number in numbers[1:]:
                groups.unite(numbers[0], number)


def _lone_neighbours(traces: Sequence[RunTrace], groups: _Groups) -> None:
    """A log that no tracker's run was joined to is that of the one run whose folder it lies in or above.

    What torchrun's --log-dir keeps of each rank lies below, in LOG_DIR/RUN_ID/attempt_0/RANK.
    """
    by_folder: dict[PurePath, set[int]] = defaultdict(set)
    for number, trace in enumerate(traces):
        if trace.is_tracker:
            for folder in [PurePath(trace.path), *PurePath(trace.path).parents][:4]:  # some trackers are folders
                by_folder[folder].add(groups.of(number))
    logs: dict[PurePath, set[str]] = defaultdict(set)
    for trace in traces:
        if not trace.is_tracker:
            logs[PurePath(trace.path).parent].add(trace.path)
    with_tracker = {groups.of(number) for number, trace in enumerate(traces) if trace.is_tracker}
    for number, trace in enumerate(traces):
        folder = PurePath(trace.path).parent
        if trace.is_tracker or groups.of(number) in with_tracker:
            continue
        above = _above_attempts(folder)
        near = next((found for one in above or [folder] if (found := by_folder.get(one, set()))), set())
        if len(near) == 1 and (above or len(logs[folder]) == 1):
            groups.unite(number, next(iter(near)))


def _above_attempts(folder: PurePath) -> list[PurePath]:
    """Returns where torchrun's folder for the ranks' logs can lie in, nearest first; [] for another folder."""
    if not (folder.name.isdecimal() and folder.parent.name.startswith("attempt_")):
        return []
    return list(folder.parent.parents)[:3]


class _Groups:
    """Numbers in groups that grow together."""

    def __init__(self, count: int) -> None:
        self._above: list[int] = list(range(count))

    def of(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = number = self._above[self._above[number]]
        return number

    def unite(self, one: int, other: int) -> None:
        first, second = sorted((self.of(one), self.of(other)))
        self._above[second] = first
