"""What each process of a job is: launcher, rank, data worker, shell, helper; and which rank. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.job.process_kinds import (
    SHELLS,
    group_rank,
    is_launcher,
    is_multiprocessing,
    is_tracker,
    uses_torch,
)
from diagnostics.dynamic.job.process_list import MergedProcess, words
from diagnostics.dynamic.job.rank_inference import infer_ranks, program_of, script_of
from diagnostics.record.launcher_log import LauncherLog

RANKS_SPAWNED = re.compile(r"^(?:torch\.multiprocessing(?:\.spawn)?\.)?Process(?:Raised|Exited)Exception\b")
RANK_TARGET = re.compile(r"\btorch\.multiprocessing\b|\b_wrap\b")
WORKER_TARGET = re.compile(r"_worker_loop|\bdataloader\b", re.IGNORECASE)
# Tried in this order; the last two also stand in the environment of what is no rank.
MOST_ABOVE = 64  # processes above another one
OTHER_RANK_VARIABLES = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))


class ProcessRoles:
    """The part and the rank of each process, found from those that tell most to those that tell least."""

    def __init__(self, processes: Sequence[MergedProcess], log: LauncherLog | None = None) -> None:
        self._processes = processes
        self._logged = {end.pid: end.rank for end in log.ends if end.rank is not None} if log is not None else {}
        self._by_pid: dict[int, list[MergedProcess]] = {}
        for process in processes:
            self._by_pid.setdefault(process.pid, []).append(process)
        self._children: dict[int, list[MergedProcess]] = {}
        for process in processes:
            parent = self.parent(process)
            if parent is not None:
                self._children.setdefault(id(parent), []).append(process)
        self._above_ranks: set[int] = set()  # id(process) of all that a rank descends from
        self.ranks: dict[int, int] = {}  # id(process) -> rank, of RANK and DATA_WORKER
        self.parts: dict[int, ProcessRole] = {}
        self._find_ranks()
        self._find_others()

    def part(self, process: MergedProcess) -> ProcessRole:
        """Returns what the process is."""
        return self.parts[id(process)]

    def rank(self, process: MergedProcess) -> int | None:
        """Returns its rank, a data worker's being that of its rank."""
        return self.ranks.get(id(process))

    def parent(self, process: MergedProcess) -> MergedProcess | None:
        """Returns the process that started this one: the last with the parent's pid that began before it."""
        before = [one for one in self._by_pid.get(process.parent_pid, []) if one is not process]
        earlier = [one for one in before if one.start_ticks <= process.start_ticks]
        return max(earlier, key=lambda one: one.start_ticks, default=before[-1] if before else None)

    def children(self, process: MergedProcess) -> list[MergedProcess]:
        """Returns the processes it started."""
        return self._children.get(id(process), [])

    def _find_ranks(self) -> None:
        for process in self._processes:
            rank = group_rank(process)
            if rank is not None:
                self._make_rank(process, rank)
        for process in self._processes:
            if self._is_spawning_ranks(process):
                self._rank_spawned_children(process)
        self._rank_by_variables("RANK")
        if not self.parts:
            for name, size in OTHER_RANK_VARIABLES:
                if any(process.variables.get(size, "1") not in ("", "1") for process in self._processes):
                    self._rank_by_variables(name)
        self._rank_below_launchers()
        if not self.parts:
            self._rank_single_program()

    def _make_rank(self, process: MergedProcess, rank: int) -> None:
        self.ranks[id(process)] = rank
        self.parts[id(process)] = ProcessRole.RANK
        above = self.parent(process)
        while above is not None and id(above) not in self._above_ranks:
            self._above_ranks.add(id(above))
            above = self.parent(above)

    def _is_spawning_ranks(self, process: MergedProcess) -> bool:
        """Whether a script starts its ranks itself, through torch.multiprocessing."""
        if id(process) in self.parts or is_launcher(process):
            return False
        if any(RANKS_SPAWNED.match(event.text.rpartition(" | ")[2]) for event in process.events):
            return True
        if any(event.kind == "child" and RANK_TARGET.search(event.text) for event in process.events):
            return True
        ranks = [one for one in self.children(process) if self.parts.get(id(one)) is ProcessRole.RANK]
        return bool(ranks) and all(is_multiprocessing(one) for one in ranks)

    def _rank_spawned_children(self, parent: MergedProcess) -> None:
        """Ranks that died before they made a group have the number that their siblings left."""
        children = [one for one in self.children(parent) if is_multiprocessing(one) and not is_tracker(one)]
        for index, child in enumerate(sorted(children, key=lambda one: (one.start_ticks, one.pid))):
            if id(child) not in self.parts:
                own = child.variables.get("RANK", "")
                inherited = own == parent.variables.get("RANK", "")
                self._make_rank(child, int(own) if own.isdigit() and not inherited else index)

    def _rank_by_variables(self, name: str) -> None:
        for process in self._processes:  # parents come before their children
            value = process.variables.get(name, "")
            if id(process) in self.parts or not value.isdigit() or not process.is_python:
                continue
            if is_launcher(process) or self._starts_ranks(process) or self._is_below_a_rank(process):
                continue
            self._make_rank(process, int(value))

    def _starts_ranks(self, process: MergedProcess) -> bool:
        return id(process) in self._above_ranks

    def _descendants(self, process: MergedProcess) -> list[MergedProcess]:
        found: list[MergedProcess] = []
        waiting = list(self.children(process))
        while waiting and len(found) < len(self._processes):
            found.append(waiting.pop())
            waiting += self.children(found[-1])
        return found

    def _is_below_a_rank(self, process: MergedProcess) -> bool:
        """Whether a rank started it, without a launcher between them."""
        for above in self._above(process):
            if self.parts.get(id(above)) is ProcessRole.RANK:
                return True
            if is_launcher(above):
                return False
        return False

    def _rank_below_launchers(self) -> None:
        """A rank whose variables were taken away is still what its launcher started."""
        for launcher in filter(is_launcher, self._processes):
            started = [one for one in self._through_shells(launcher) if one.is_python and not is_launcher(one)]
            ranks = {script_of(one.argv) for one in started if self.parts.get(id(one)) is ProcessRole.RANK}
            found = [
                one
                for one in started
                if id(one) not in self.parts
                and script_of(one.argv)
                and (not ranks or script_of(one.argv) in ranks)
                and not self._starts_ranks(one)  # it only starts the program that is the rank
            ]
            slots = infer_ranks(found, {id(one): script_of(one.argv) for one in found})
            for process in found:
                logged = self._logged.get(process.pid)
                self._make_rank(process, logged if logged is not None else slots[id(process)])

    def _through_shells(self, process: MergedProcess) -> list[MergedProcess]:
        """Returns what it started, itself or through shells and wrappers."""
        found: list[MergedProcess] = []
        waiting = list(self.children(process))
        while waiting and len(found) < len(self._processes):
            found.append(waiting.pop())
            if found[-1].program in SHELLS and not found[-1].is_python:
                waiting += self.children(found[-1])
        return found

    def _rank_single_program(self) -> None:
        """A job without launcher: each topmost program that used torch, else each topmost Python program.

        Where a launcher never got to start its ranks, a Python program beside it that used no torch is none of them.
        Programs that run the same at the same time are ranks 0, 1...; one after the other they are rank 0 each.
        """
        found = [one for one in self._processes if uses_torch(one)]
        if not found and not any(is_launcher(process) for process in self._processes):
            scripts = [one for one in self._processes if one.is_python and script_of(one.argv)]
            # What runs no file of the user's, a web server or a `python -c` that asks for a port, serves the others.
            found = scripts or [one for one in self._processes if one.is_python]
        found = [one for one in found if not is_launcher(one) and not self._leaves_training_to_others(one)]
        chosen = {id(one) for one in found}
        found = [one for one in found if not self._has_above(one, chosen)]
        groups = {id(one): self._group(one) for one in self._processes if one.is_python}
        if any(uses_torch(one) for one in found):  # those of the same kind that did not come so far
            same = {groups[id(one)] for one in found if self.parent(one) is not None}
            found += [one for one in self._processes if id(one) not in chosen and groups.get(id(one)) in same]
        slots = infer_ranks(found, groups)
        for process in found:
            self._make_rank(process, slots[id(process)])

    def _leaves_training_to_others(self, process: MergedProcess) -> bool:
        """Whether it made no step while what it started did: a script that builds, and starts processes that train."""
        own = process.agent.steps.count if process.agent is not None else 0
        return not own and any(one.agent is not None and one.agent.steps.count for one in self._descendants(process))

    def _group(self, process: MergedProcess) -> tuple[int, str]:
        """Returns who started it and what it runs."""
        parent = self.parent(process)
        if parent is not None and is_tracker(parent):
            parent = self.parent(parent)
        return id(parent), program_of(process, parent)

    def _has_above(self, process: MergedProcess, chosen: set[int]) -> bool:
        return any(id(above) in chosen for above in self._above(process))

    def _above(self, process: MergedProcess) -> Iterator[MergedProcess]:
        """Yields its parent, the parent of that and so on; in a record from elsewhere they may stand in a circle."""
        above = self.parent(process)
        for _ in range(MOST_ABOVE):
            if above is None:
                return
            yield above
            above = self.parent(above)

    def _find_others(self) -> None:
        for process in self._processes:
            if id(process) not in self.parts:
                self.parts[id(process)] = self._other_part(process)

    def _other_part(self, process: MergedProcess) -> ProcessRole:
        if process.program in SHELLS and not process.is_python:
            return ProcessRole.SHELL
        owner = self._rank_above(process)
        if owner is not None:
            if self._is_data_worker(process, owner):
                self.ranks[id(process)] = self.ranks[id(owner)]
                return ProcessRole.DATA_WORKER
            return ProcessRole.LAUNCHER if is_launcher(process) else ProcessRole.HELPER
        if is_launcher(process) or (process.is_python and self._starts_ranks(process)):
            return ProcessRole.LAUNCHER
        return ProcessRole.HELPER

    def _rank_above(self, process: MergedProcess) -> MergedProcess | None:
        """Returns the rank that started it, itself or through multiprocessing's fork server."""
        above = self.parent(process)
        if above is not None and is_tracker(above):
            above = self.parent(above)
        return above if above is not None and self.parts.get(id(above)) is ProcessRole.RANK else None

    def _is_data_worker(self, process: MergedProcess, owner: MergedProcess) -> bool:
        if is_tracker(process) or not is_multiprocessing(process):
            return False
        started = [
            event
            for event in owner.events
            if event.kind == "child" and words(event.text).get("pid") == str(process.pid)
        ]
        if any("=process" in event.text for event in started):
            named = [event for event in started if " | " in event.text]
            if any(WORKER_TARGET.search(event.text) for event in named):
                return True
        return any(event.kind in ("dataloader", "dataloader-begin") for event in owner.events)
