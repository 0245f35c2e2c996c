"""Which rank a process is where nothing it has says so: by its siblings that run the same program. Pure."""

from __future__ import annotations

import heapq
import itertools
import re
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence

from diagnostics.dynamic.job.process_list import MergedProcess, words

_RANK_OPTION = re.compile(r"^--?(?:local[-_])?rank(?:=(\d{1,6}))?$")
OVERLAP_S = 0.05  # a process is seen later than it began


def infer_ranks(processes: Sequence[MergedProcess], groups: Mapping[int, Hashable]) -> dict[int, int]:
    """Returns the rank of each process, by id: what its command line says, else the lowest number that is free.

    Siblings of one group of `groups` (by id) that run at the same time have different numbers, in the order in which
    they were started; one that was started after another had ended is that one, started again.
    """
    found: dict[int, int] = {}
    by_group: dict[Hashable, list[MergedProcess]] = {}
    for process in processes:
        by_group.setdefault(groups[id(process)], []).append(process)
    for siblings in by_group.values():
        slots = _Slots()
        for process in sorted(siblings, key=lambda one: (one.began_s, one.start_ticks, one.pid)):
            said = rank_option(process.argv)
            slot = said if said is not None else slots.lowest_free(process.began_s + OVERLAP_S)
            slots.take(slot, _ended_s(process))
            found[id(process)] = slot
    return found


class _Slots:
    """Numbers that are taken until some time; asked at times that only grow, also about very many."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}
        self._taken: list[tuple[float, int]] = []  # a heap, by when they are free again
        self._free: list[int] = []  # a heap
        self._fresh = 0

    def take(self, slot: int, until_s: float) -> None:
        """Takes a number, whether it is free or not."""
        self._until[slot] = until_s
        heapq.heappush(self._taken, (until_s, slot))

    def lowest_free(self, at_s: float) -> int:
        """Returns the lowest number that is free."""
        while self._taken and self._taken[0][0] <= at_s:
            heapq.heappush(self._free, heapq.heappop(self._taken)[1])
        while self._free and self._until[self._free[0]] > at_s:  # taken again meanwhile
            heapq.heappop(self._free)
        while self._fresh in self._until:  # taken once: it stands in one of the heaps
            self._fresh += 1
        return self._free[0] if self._free and self._free[0] < self._fresh else self._fresh


def program_of(process: MergedProcess, parent: MergedProcess | None) -> str:
    """Returns what a process runs, the same for each rank of one job: its target, its script or its module."""
    if parent is not None and parent.agent is not None:
        for event in parent.events:
            if event.kind == "child" and words(event.text).get("pid") == str(process.pid):
                what = event.text.partition(" | ")[2].split()
                if words(event.text).get("how") in ("process", "fork") and what:
                    return f"target {what[-1]}"
    return script_of(process.argv) or " ".join(process.argv[:2])


def script_of(argv: Sequence[str]) -> str:
    """Returns the script or module that Python runs; "" for `-c`, and for a module of Python itself."""
    arguments = iter(argv[1:])
    for word in arguments:
        if word == "-m":
            module = next(arguments, "")
            return "" if module.partition(".")[0] in sys.stdlib_module_names else module
        if word in ("-c", "-") or word.startswith("-c"):
            return ""
        if word in ("-W", "-X"):
            next(arguments, "")
        elif not word.startswith("-"):
            return word
    return ""


def rank_option(argv: Iterable[str]) -> int | None:
    """Returns the N of `--rank N` or `--local_rank=N`."""
    for word, following in itertools.pairwise([*argv, ""]):
        if option := _RANK_OPTION.match(word):
            said = option[1] or following
            return int(said) if said.isdigit() and len(said) < 7 else None
    return None


def _ended_s(process: MergedProcess) -> float:
    end = process.seen.end if process.seen is not None else None
    if end is not None and end.at_s is not None:
        return end.at_s
    agent = process.agent
    last = agent.last_event("exit") if agent is not None else None
    return process.began_s + last.seconds if last is not None else float("inf")
