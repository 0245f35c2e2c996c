"""The decisions of a project after which ranks pass different operations: where some would wait for ever. Pure.

Each decision that can fall differently on two ranks is tried both ways (`collective_sequences.py`); it parts them
where what the ranks then pass is not the same and the decision itself guards it, or leaves before it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates, says_distributed
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import EXCEPTION, RANK, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.branch_assumption import BranchAssumption
from diagnostics.static.spmd.collective_sequences import CollectiveSequences, counts
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites
from diagnostics.static.spmd.common_conditions import common_facts
from diagnostics.static.spmd.divergent_branch import (
    Asking,
    Branch,
    DivergenceShape,
    DivergentBranch,
    calls_in,
    comes_on_all,
    falls_alike,
    leaves_inside,
    leaving,
    nodes_of,
    strongest,
    unmatched,
    used_by_with,
)
from diagnostics.static.spmd.own_reasons import own_reasons
from diagnostics.static.spmd.raised_on_one_rank import raised_on_one_rank
from diagnostics.static.spmd.sequence_values import CollectiveSequence, comes_to_the_same, ways_differ
from diagnostics.static.spmd.short_circuits import short_circuits

MOST_DECISIONS, _JOINS = 60, {"join", "Join"}  # decisions of one function


class StaticDivergence:
    """All partings of a project, by the file they are in."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.communication = project.fact(CollectiveSites)
        self.tests = RankPredicates(project)
        self.ways = CollectiveSequences(project, self.communication, self.tests)
        self._meeting = [one for one in project.functions if self.communication.of_function(one) is not None]
        self._by_file: dict[str, list[Function]] = {}
        for one in self._meeting:
            self._by_file.setdefault(one.file, []).append(one)
        self._taints: RankTaint | None = None
        self._partings: dict[str, list[DivergentBranch]] = {}

    @property
    def taints(self) -> RankTaint:
        """What differs between ranks, spread in the functions that matter."""
        if self._taints is None:
            self._taints = RankTaint(self.project, only=self._closure())
        return self._taints

    def _closure(self) -> tuple[Function, ...]:
        """Returns the functions in which ranks meet, the methods beside them, and what these call."""
        chosen = {id(one): one for one in self._meeting}
        classes = {id(kind) for one in self._meeting if (kind := self.project.class_of(one)) is not None}
        for one in self.project.functions:
            kind = self.project.class_of(one)
            if kind is not None and id(kind) in classes:
                chosen[id(one)] = one
        for _ in range(2):
            for one in list(chosen.values()):
                for node in one.own_nodes:
                    if isinstance(node, ast.Call):
                        chosen.update((id(target), target) for target in self.project.targets(node, one))
                    elif isinstance(node, ast.Attribute):
                        chosen.update((id(target), target) for target in self.project.getters(node, one))
        return tuple(chosen.values())

    def partings(self, file: str) -> list[DivergentBranch]:
        """Returns the partings of one file, in the order of its lines."""
        if file not in self._partings:
            found = [one for function in self._by_file.get(file, ()) for one in self._of_function(function)]
            self._partings[file] = sorted(found, key=lambda one: one.line)
        return self._partings[file]

    def _of_function(self, function: Function) -> Iterator[DivergentBranch]:
        tried = 0
        asking: list[Asking] = []
        for node in function.own_nodes:
            if tried >= MOST_DECISIONS:
                break
            if isinstance(node, (ast.If, ast.While, ast.IfExp)):
                tried += 1
                ranks = self.tests.asks(node.test, function) if not says_distributed(node.test) else None
                if ranks is not None:
                    asking.append((node, ranks))
                else:
                    yield from self._local_branch(node, function)
            elif isinstance(node, ast.BoolOp):
                yield from short_circuits(node, function, self.communication, self.tests, self._reason)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                tried += 1
                yield from self._loop(node, function)
            elif isinstance(node, ast.Try):
                tried += 1
                yield from self._try(node, function)
        yield from self._rank_branches(asking, function)

    # Branches on the rank

    def _rank_branches(self, asking: list[Asking], function: Function) -> Iterator[DivergentBranch]:
        """Yields the branches on the rank that part ranks: those whose difference no other one makes up for."""
        parted: list[tuple[Asking, CollectiveSequence, CollectiveSequence]] = []
        for node, ranks in asking:
            facts = common_facts(node.test, function, self.tests)
            whole = [self.ways.way(function, BranchAssumption(node, True, on, facts)) for on in ranks]
            if self.ways.exhausted or not ways_differ(*whole):
                continue
            one, other = (self.ways.part(node, function, BranchAssumption(node, True, on, facts)) for on in ranks)
            if comes_to_the_same(one, other, whole):
                continue
            if one.items != other.items:
                parted.append(((node, ranks), one, other))
            else:
                yield from self._left(node, ranks, function, one, other, whole)
        for (node, ranks), one, other in unmatched(parted):
            mine, others = strongest(one.met), strongest(other.met)
            here, there = (mine, others) if mine is not None else (others, None)
            if here is not None:
                shape = DivergenceShape.LOOP if isinstance(node, ast.While) else DivergenceShape.ARM
                yield DivergentBranch(function=function, decision=node, shape=shape, why=RANK, here=here, there=there,
                              ranks=ranks)  # fmt: skip

    def _left(
        self,
        node: Branch,
        ranks: tuple[ConcreteRank, ConcreteRank],
        function: Function,
        one: CollectiveSequence,
        other: CollectiveSequence,
        whole: list[CollectiveSequence],
    ) -> Iterator[DivergentBranch]:
        """Yields a branch by which one rank leaves, with what it misses."""
        if isinstance(node, ast.IfExp) or one.end == other.end:
            return
        left_by = self._leaving(node)
        staying = whole[1] if one.end != "fall" else whole[0]
        missed = self._missed(staying, node, function, left_by)
        if left_by is not None and missed is not None:
            yield DivergentBranch(
                function=function, decision=node, shape=DivergenceShape.EXIT, why=RANK, here=missed, there=None,
                ranks=ranks, exit=left_by,
            )  # fmt: skip

    def _leaving(self, node: ast.If | ast.While) -> ast.stmt | None:
        found = leaving(node.body) or leaving(node.orelse) or leaves_inside(node.body) or leaves_inside(node.orelse)
        # A `continue` in the body of a loop goes on with the loop itself.
        stays = (ast.Raise, ast.Break, ast.Continue) if isinstance(node, ast.While) else ast.Raise
        return None if isinstance(found, stays) else found

    def _missed(
        self, staying: CollectiveSequence, node: ast.AST, function: Function, left_by: ast.stmt | None
    ) -> CollectiveSite | None:
        """Returns what a rank that leaves misses: in the rest of the round, else behind."""
        inside = nodes_of([node])
        rest = [one for one in staying.met if id(one.chain[0][0]) not in inside]
        if isinstance(left_by, (ast.Break, ast.Continue)):
            found = strongest(one for one in rest if self._in_same_loop(one, node, function))
            if found is not None:
                return found
        last = getattr(node, "end_lineno", 0) or 0
        return strongest(
            one for one in rest if one.chain[0][0].lineno > last or self._in_same_loop(one, node, function)
        )

    # Branches on what the rank alone has seen

    def _local_branch(self, node: Branch, function: Function) -> Iterator[DivergentBranch]:
        if says_distributed(node.test) or self.tests.same(node.test, function) or falls_alike(node.test):
            return
        taint = self._reason(node.test, function)
        if taint is None:
            return
        one, other = (self.ways.way(function, BranchAssumption(node, value)) for value in (True, False))
        if self.ways.exhausted or not ways_differ(one, other):
            return
        found = self._parted(node, function, one, other)
        if found is not None:
            shape, here, there, leaves = found
            if isinstance(node, ast.While) and shape is DivergenceShape.ARM:
                shape = DivergenceShape.LOOP
            yield DivergentBranch(function=function, decision=node, shape=shape, why=taint.why, here=here, there=there,
                          taint=taint, exit=leaves)  # fmt: skip

    def _reason(self, test: ast.expr, function: Function) -> Taint | None:
        """Returns why a test can fall differently: the reason that is nearest, and says most."""
        own = own_reasons(test, function, self.taints, self.communication.objects)
        found = [*self.taints.all_of(test, function), *own]
        return max(found, key=lambda one: (one.function == function.name and one.why != RANK, one.weight), default=None)

    def _parted(
        self, node: Branch, function: Function, one: CollectiveSequence, other: CollectiveSequence
    ) -> tuple[DivergenceShape, CollectiveSite, CollectiveSite | None, ast.stmt | None] | None:
        """Returns how this decision parts the ranks."""
        body = [node.body] if isinstance(node, ast.IfExp) else node.body
        orelse = [node.orelse] if isinstance(node, ast.IfExp) else node.orelse
        inside = nodes_of([*body, *orelse])
        mine = strongest(reach for reach in one.met if id(reach.chain[0][0]) in inside)
        others = strongest(reach for reach in other.met if id(reach.chain[0][0]) in inside)
        here, there = (mine, others) if mine is not None else (others, None)
        if here is not None:
            return DivergenceShape.ARM, here, there, None
        left_by = self._leaving(node) if not isinstance(node, ast.IfExp) else None
        staying = one if len(one.met) >= len(other.met) else other
        missed = self._missed(staying, node, function, left_by) if left_by is not None else None
        return (DivergenceShape.EXIT, missed, None, left_by) if missed is not None else None

    def _in_same_loop(self, reach: CollectiveSite, node: ast.AST, function: Function) -> bool:
        parents = self.project.file_with(function).parents
        around = node
        while around in parents:
            around = parents[around]
            if isinstance(around, (ast.For, ast.While, ast.AsyncFor)):
                return id(reach.chain[0][0]) in nodes_of([around])
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return False
        return False

    # Loops

    def _loop(self, node: ast.For | ast.AsyncFor, function: Function) -> Iterator[DivergentBranch]:
        inside = self._first_inside(node.body, function)
        if inside is None or self._joined(node, function) or self._is_bounded(node, inside, function):
            return
        taint = self.taints.of_loop(node.iter, function)
        if taint is None:
            return
        yield DivergentBranch(function=function, decision=node, shape=DivergenceShape.LOOP, why=taint.why, here=inside,
                              there=None, taint=taint)  # fmt: skip

    def _first_inside(self, block: list[ast.stmt], function: Function) -> CollectiveSite | None:
        reaches = (self.communication.of_call(call, function) for call in calls_in(block))
        return strongest(one for one in reaches if one is not None and counts(one))

    def _is_bounded(self, node: ast.For | ast.AsyncFor, inside: CollectiveSite, function: Function) -> bool:
        """Whether the operation stands under `index < n`, and ranks agreed on n: all come to it as often."""
        counters = {one.id for one in walk(node.target) if isinstance(one, ast.Name)}
        call = inside.chain[0][0]
        for test in (one.test for part in node.body for one in walk(part) if isinstance(one, ast.If)
                     and any(inner is call for inner in walk(one))):  # fmt: skip
            for one in walk(test):
                match one:
                    case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
                        if name in counters and self._is_agreed(bound, function):
                            return True
        return False

    def _is_agreed(self, value: ast.expr, function: Function) -> bool:
        """Whether a collective made a value, also one in a function of the project that gives it back."""
        if self.taints.is_agreed(value, function):
            return True
        made = function.assigned.get(value.id, []) if isinstance(value, ast.Name) else [value]
        calls = [one for one in made if isinstance(one, ast.Call)]
        return bool(calls) and len(calls) == len(made) and all(
            (site := self.communication.of_call(one, function)) is not None and counts(site) for one in calls
        )  # fmt: skip

    def _joined(self, node: ast.AST, function: Function, deep: int = 2) -> bool:
        """Whether the loop stands in a context that lets ranks end early, or each call of its function does."""
        if self._stands_in_join(node, function):
            return True
        calls = self.project.callers(function) if deep else []
        return bool(calls) and all(self._joined(call, where, deep - 1) for call, where in calls)

    def _stands_in_join(self, node: ast.AST, function: Function) -> bool:
        parents = self.project.file_with(function).parents
        around = node
        while around in parents:
            around = parents[around]
            if isinstance(around, (ast.With, ast.AsyncWith)) and any(
                last_name(item.context_expr) in _JOINS or last_name(item.context_expr).startswith("join_uneven")
                for item in around.items
            ):
                return True
        return False

    # Exceptions

    def _try(self, node: ast.Try, function: Function) -> Iterator[DivergentBranch]:
        for handler in node.handlers:
            if comes_on_all(handler):
                continue
            one = self.ways.way(function, BranchAssumption(handler, True))
            other = self.ways.way(function, BranchAssumption(handler, False))
            reach = self._first_inside(handler.body, function)
            if self.ways.exhausted or not (ways_differ(one, other) or (reach is not None and one.end == "raise")):
                continue
            taint = Taint(EXCEPTION, function.file, handler.lineno, function.name, True, handler)
            if reach is not None:
                yield DivergentBranch(
                    function=function, decision=handler, shape=DivergenceShape.HANDLER, why=EXCEPTION, here=reach,
                    there=None, taint=taint,
                )  # fmt: skip
                continue
            skipped = None if isinstance(leaving(handler.body), ast.Raise) else self._first_inside(node.body, function)
            if skipped is not None and one.end != "raise" and self._raises_alone(node, skipped, function):
                yield DivergentBranch(
                    function=function, decision=handler, shape=DivergenceShape.SKIPPED, why=EXCEPTION, here=skipped,
                    there=None, taint=taint,
                )  # fmt: skip
        if node.finalbody:
            reach = self._first_inside(node.finalbody, function)
            body = self._first_inside(node.body, function)
            hands_over = any(isinstance(one, ast.Yield) for part in node.body for one in walk(part))
            if reach is not None and body is None and hands_over:
                body = self._met_by_users(function, reach)
            if reach is not None and body is not None and not self._in_turn(node, function):
                yield DivergentBranch(
                    function=function, decision=reach.chain[0][0], shape=DivergenceShape.FINALLY, why=EXCEPTION,
                    here=reach, there=body if body is not reach else None,
                )  # fmt: skip

    def _met_by_users(self, function: Function, reach: CollectiveSite) -> CollectiveSite | None:
        """Returns what ranks meet in under `with` on a function: where nobody is seen to use it, it may be anything."""
        users = list(used_by_with(function, self.project))
        met = [self._first_inside(block, where) for block, where in users]
        return strongest(one for one in met if one is not None) if users else reach

    def _in_turn(self, node: ast.Try, function: Function) -> bool:
        """Whether `finally` asks for the rank: rank 0 comes last to a barrier in which the others wait already."""
        tests = [one.test for part in node.finalbody for one in walk(part) if isinstance(one, ast.If)]
        return any(self.tests.asks(test, function) is not None for test in tests)

    def _raises_alone(self, node: ast.Try, skipped: CollectiveSite, function: Function) -> bool:
        """Whether work of the rank's own comes before the operation in the try, so that it alone can fail."""
        first = skipped.chain[0][0]
        before = [call for call in calls_in(node.body) if call is not first and call.lineno <= first.lineno]
        if any(self.communication.of_call(call, function) is None for call in before) or len(skipped.chain) > 1:
            return True
        return any(raised_on_one_rank(handler, function, self.project) for handler in node.handlers)
