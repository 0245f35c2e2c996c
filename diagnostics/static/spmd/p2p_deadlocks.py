"""Functions of a project in which ranks that send and receive are left waiting, whatever the size of the job. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_arguments import under_rank_test
from diagnostics.static.spmd.p2p_programs import NoSuchRankError, P2PPrograms, UndecidedError
from diagnostics.static.spmd.p2p_simulation import Message, MessageKind, SimulationResult, run

WORLDS = (2, 3, 4)
_MESSAGES = (*operations.POINT_TO_POINT, operations.BATCH_PART)


@dataclass(frozen=True, eq=False)
class P2PDeadlock:
    """How a function ends in the smallest job it is meant for; in every larger one that was tried it hangs as well."""

    function: Function
    world: int
    outcome: SimulationResult

    @property
    def first(self) -> Message:
        """The operation in which the first rank is left."""
        return self.outcome.waiting[0].event


class MessageDeadlocks:
    """The deadlocks of a project, found once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.programs = P2PPrograms(project)
        self.tests = RankPredicates(project)

    @cached_property
    def messages(self) -> list[tuple[ast.Call, Function]]:
        """Every call that sends or receives."""
        named = (f"torch.distributed.{op}" for op in _MESSAGES)
        return [one for name in named for one in self.project.calls_by_canonical.get(name, ())]

    @cached_property
    def found(self) -> tuple[P2PDeadlock, ...]:
        """One deadlock for each operation in which ranks are left."""
        seen: set[int] = set()
        chosen = []
        for function in self._candidates():
            one = self._of(function)
            if one is not None and id(one.first.call) not in seen:
                seen.add(id(one.first.call))
                chosen.append(one)
        return tuple(chosen)

    def _candidates(self) -> Iterator[Function]:
        """Yields the functions that send or receive, then those that call them."""
        direct = list({id(function): function for _, function in self.messages}.values())
        yield from direct
        known = {id(one) for one in direct}
        for one in direct:
            for _, caller in self.project.callers(one):
                if id(caller) not in known:
                    known.add(id(caller))
                    yield caller

    def _of(self, function: Function) -> P2PDeadlock | None:
        calls = self.project.callers(function)
        if any(under_rank_test(call, where, self.project.file_with(where), self.tests) for call, where in calls):
            return None  # not every rank comes here
        ends: list[tuple[int, SimulationResult]] = []
        called: set[int] = set()
        for world in WORLDS:
            try:
                programs = [list(self.programs.program(function, ConcreteRank(rank, world))) for rank in range(world)]
            except NoSuchRankError:
                continue
            except UndecidedError:
                return None
            called |= {id(event.call) for program in programs for event in program}
            ends.append((world, run(programs)))
        if not ends or not all(one.decided and one.waiting for _, one in ends):
            return None
        world, outcome = ends[0]
        return P2PDeadlock(function, world, outcome) if self._is_whole(outcome, called) else None

    def _is_whole(self, outcome: SimulationResult, called: set[int]) -> bool:
        """Whether no other function can hold the missing half: all are paired, or these are all there are."""
        if outcome.paired or outcome.tags_differ:
            return True
        several = len({one.rank for one in outcome.waiting}) > 1 or any(
            event.kind is not MessageKind.MEET for one in outcome.waiting for event in one.rest
        )
        return several and all(id(call) in called for call, _ in self.messages)
