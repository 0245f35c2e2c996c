"""Walks the ways a rank can have gone through the project's functions, from one stack to others. Pure and bounded.

A state is a node of a function's graph in a context: by which calls that function was reached. Calls are entered where
a stack shows what they ran, and where what they may run can matter (it communicates, raises or exits).
"""

from __future__ import annotations

import ast
import heapq
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from diagnostics.dynamic.divergence.search_states import CallString, SearchTarget, State, shown_calls
from diagnostics.dynamic.divergence.stack_alignment import Stack, nodes_at
from diagnostics.static.program import exit_calls
from diagnostics.static.program.call_graph import CallGraph, Function, is_generator
from diagnostics.static.program.cfg import Edge, EdgeKind, NodeKind
from diagnostics.static.program.cfg_expressions import dotted

MOST_STATES = 20_000
MOST_DEPTH = 12  # calls entered below those that the stacks show
FAR = 1 << 30
_COST = {EdgeKind.RAISES: 30}
_LIBRARY = re.compile(r"/(?:site|dist)-packages/(?!torch/)")
_BYPASS = 8  # a call that may run something else than what a stack shows


@dataclass(eq=False)
class PathSearch:
    """All states that can be reached from the start without passing an operation of the group."""

    program: CallGraph
    start: Stack | None
    start_op: str
    goals: tuple[SearchTarget, ...]
    caught: frozenset[tuple[str, int]] = frozenset()  # (file, line) along which exceptions are known to have travelled
    blocked: bool = True  # operations of the group are not passed
    made: tuple[frozenset[tuple[str, int]], ...] = ()  # (file, line) of the calls that each side has made
    edges: dict[State, list[tuple[EdgeKind, int, State]]] = field(default_factory=dict)
    reached: tuple[set[State], ...] = ()
    begins: list[tuple[int, State]] = field(default_factory=list)
    truncated: bool = False
    _contexts: dict[tuple[int, int, int], CallString] = field(default_factory=dict)
    _interesting: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Explores."""
        self.reached = tuple(set() for _ in self.goals)
        stacks = [goal.stack for goal in self.goals] + ([self.start] if self.start is not None else [])
        self._known = shown_calls(stacks)
        self._wanted = {level.function for stack in stacks for level in stack.levels}
        ops = (goal.op for goal in self.goals)
        self._nodes = [
            [
                nodes_at(level, goal.stack.levels[at + 1].function if at + 1 < len(goal.stack.levels) else None, op)
                for at, level in enumerate(goal.stack.levels)
            ]
            for goal, op in zip(self.goals, ops, strict=True)
        ]
        self._explore()

    def nodes_of(self, number: int, depth: int) -> frozenset[int]:
        """Returns the nodes at which a goal's stack stands in the function of one of its levels."""
        return self._nodes[number][depth]

    # Where it begins

    def _explore(self) -> None:
        waiting: list[tuple[int, int, State]] = []
        seen: dict[State, int] = {}
        for cost, state in self._begin():
            self.begins.append((cost, state))
            heapq.heappush(waiting, (cost, len(seen), state))
            seen.setdefault(state, cost)
        self.distance = seen
        count = len(seen)
        done: set[State] = set()
        while waiting:
            cost, _, state = heapq.heappop(waiting)
            if state in done:
                continue
            done.add(state)
            if len(done) > MOST_STATES:
                self.truncated = True
                break
            ended = self._arrives(state)
            self.edges[state] = ways = list(self._raised_inside(state) if ended else self._ways(state))
            for _, more, to in ways:
                if cost + more < seen.get(to, FAR):
                    seen[to] = cost + more
                    count += 1
                    heapq.heappush(waiting, (cost + more, count, to))

    def _begin(self) -> Iterator[tuple[int, State]]:
        if self.start is None or not self.start.levels:
            first = next((goal.stack.levels[0].function for goal in self.goals if goal.stack.levels), None)
            if first is not None:
                yield 0, (self._context(first, None, -1, "call"), 0)
            return
        context: CallString | None = None
        levels = self.start.levels
        at = -1
        for number, level in enumerate(levels):
            how = "box" if level.boxed else "call"
            if number and is_generator(level.function) and not level.boxed and context is not None:
                node = context.function.graph.nodes[at]
                how = "items" if node.kind is NodeKind.LOOP else "box"
            context = self._context(level.function, context, at, how)
            below = levels[number + 1].function if number + 1 < len(levels) else None
            at = min(nodes_at(level, below, self.start_op), default=0)
        if context is None:
            return
        for index in sorted(nodes_at(levels[-1], None, self.start_op)):
            yield from ((more, to) for _, more, to in self._plain(context, index))
            if self.start.hidden is not None:
                yield from self._within_library(context, index)

    def _within_library(self, context: CallString, index: int) -> Iterator[tuple[int, State]]:
        """Yields where library code, that stands in this call, goes on: into what it calls back, and in itself."""
        for called, boxed in self._known.get((id(context.function), index), ()):
            if boxed:
                yield from ((more, to) for _, more, to in self._into(context, index, called, True))
        yield 1, (context, index)

    def _context(self, function: Function, parent: CallString | None, at: int, how: str) -> CallString:
        key = (id(function), id(parent), at)
        known = self._contexts.get(key)
        if known is None:
            known = CallString(function, parent, at, how, parent.depth + 1 if parent is not None else 0)
            for number, goal in enumerate(self.goals):
                depth = known.depth
                if depth >= len(goal.stack.levels) or goal.stack.levels[depth].function is not function:
                    continue
                if parent is None or (number in parent.agrees and at in self._nodes[number][depth - 1]):
                    known.agrees[number] = depth
            self._contexts[key] = known
        return known

    # Where it arrives

    def _arrives(self, state: State) -> bool:
        """Notes which goals a state is; returns whether the walk ends there."""
        context, index = state
        node = context.function.graph.nodes[index]
        ends = False
        for number, goal in enumerate(self.goals):
            if goal.is_end:
                graph = context.function.graph
                left = context.parent is None and index in (graph.returned, graph.raised, graph.exited)
                found = left or index == graph.gone
            else:
                found = context.agrees.get(number) == len(goal.stack.levels) - 1 and index in self._nodes[number][-1]
            if found:
                self.reached[number].add(state)
                ends = ends or not self._calls_back(goal)
        return ends or (
            self.blocked and node.kind is NodeKind.CALL and self.program.communicates(node.syntax, context.function)
        )

    def _raised_inside(self, state: State) -> Iterator[tuple[EdgeKind, int, State]]:
        """Yields the ways out of a call of a library in which one rank waits: on another it may have raised."""
        context, index = state
        held = (goal.stack.hidden for number, goal in enumerate(self.goals) if state in self.reached[number])
        if any(frame is not None and _LIBRARY.search(frame.file) for frame in held):
            ways = [way for way in self._plain(context, index) if way[0] is EdgeKind.RAISES]
            yield from ways
            if ways:
                yield EdgeKind.NEXT, 1, state

    def _calls_back(self, goal: SearchTarget) -> bool:
        """Whether a goal is library code that called back where the walk begins, and may do so again."""
        at = len(goal.stack.levels)
        if goal.stack.hidden is None or self.start is None or len(self.start.levels) <= at:
            return False
        alike = zip(self.start.levels, goal.stack.levels, strict=False)
        return self.start.levels[at].boxed and all(one.function is other.function for one, other in alike)

    # Ways on

    def _ways(self, state: State) -> Iterator[tuple[EdgeKind, int, State]]:
        context, index = state
        graph = context.function.graph
        if index in (graph.returned, graph.raised, graph.exited):
            yield from self._return(context, index)
            return
        node = graph.nodes[index]
        if node.kind is NodeKind.YIELD and context.how == "items" and context.parent is not None:
            yield from self._edges_of(context.parent, context.at, EdgeKind.ITEM)
            return
        if node.kind is NodeKind.CALL or node.kind is NodeKind.LOOP:
            entered = list(self._enter(context, index))
            if entered:
                yield from entered
                return
        yield from self._plain(context, index)

    def _plain(self, context: CallString, index: int) -> Iterator[tuple[EdgeKind, int, State]]:
        node = context.function.graph.nodes[index]
        for edge in node.edges:
            yield edge.kind, self._cost(context, edge, node.line), (context, edge.to)

    def _cost(self, context: CallString, edge: Edge, line: int) -> int:
        if edge.kind is EdgeKind.RAISES and (context.function.file, line) in self.caught:
            return 1
        return _COST.get(edge.kind, 1)

    def _edges_of(self, context: CallString, index: int, *kinds: EdgeKind) -> Iterator[tuple[EdgeKind, int, State]]:
        for edge in context.function.graph.nodes[index].edges:
            if edge.kind in kinds:
                yield edge.kind, 1, (context, edge.to)

    def _return(self, context: CallString, index: int) -> Iterator[tuple[EdgeKind, int, State]]:
        if context.parent is None:
            return
        graph = context.function.graph
        if index == graph.raised or index == graph.exited:
            yield from self._edges_of(context.parent, context.at, EdgeKind.RAISES)
            if index == graph.exited:
                outer = context.parent
                while outer.parent is not None:
                    outer = outer.parent
                yield EdgeKind.NEXT, 1, (outer, outer.function.graph.exited)
        elif context.how == "items":
            yield from self._edges_of(context.parent, context.at, EdgeKind.EXHAUSTED)
        else:
            if context.how == "box":
                yield EdgeKind.NEXT, 1, (context.parent, context.at)
            yield from self._edges_of(context.parent, context.at, EdgeKind.NEXT, EdgeKind.ITEM, EdgeKind.EXHAUSTED)

    def _enter(self, context: CallString, index: int) -> Iterator[tuple[EdgeKind, int, State]]:
        """Yields the ways into what a call or a loop runs; none where that does not matter."""
        function = context.function
        node = function.graph.nodes[index]
        shown = self._known.get((id(function), index), ())
        for called, boxed in shown:
            if self._repeats(context, called):
                yield from self._plain(context, index)
                continue
            yield from self._into(context, index, called, boxed)
        if any(boxed for _, boxed in shown):
            yield from self._plain(context, index)
        elif shown and isinstance(node.syntax, ast.Call):
            meant = set(self.program.targets(node.syntax, function))
            if meant != {called for called, _ in shown}:
                for kind, cost, to in self._plain(context, index):
                    yield kind, cost + _BYPASS, to
        if shown:
            return
        entered = passed = False
        for called in self._meant(node.syntax, function):
            matters = node.kind is NodeKind.LOOP or (self.interesting(called) and not is_generator(called))
            if self._repeats(context, called) or context.depth >= self._deepest or not matters:
                passed = True  # an override of an abstract method, say, in which nothing happens that matters here
                continue
            entered = True
            yield from self._into(context, index, called, False)
        if entered and passed and node.kind is NodeKind.CALL:
            yield from self._plain(context, index)

    def _meant(self, syntax: ast.AST | None, function: Function) -> tuple[Function, ...]:
        if isinstance(syntax, ast.Call):
            return self.program.targets(syntax, function)
        if isinstance(syntax, (ast.For, ast.AsyncFor, ast.comprehension)):
            return tuple(one for one in self.program.read_by(syntax.iter, function) if is_generator(one))
        return ()

    @property
    def _deepest(self) -> int:
        shown = [goal.stack for goal in self.goals] + ([self.start] if self.start is not None else [])
        return max(len(stack.levels) for stack in shown) + MOST_DEPTH

    def _into(
        self, context: CallString, index: int, called: Function, boxed: bool
    ) -> Iterator[tuple[EdgeKind, int, State]]:
        loop = context.function.graph.nodes[index].kind is NodeKind.LOOP
        generator = is_generator(called)
        how = "items" if generator and loop and not boxed else "box" if boxed or generator else "call"
        inner = self._context(called, context, index, how)
        yield EdgeKind.NEXT, 1, (inner, 0)
        if how == "items":
            for node in called.graph.nodes:
                if node.kind is NodeKind.YIELD:
                    for edge in node.edges:
                        if edge.kind is not EdgeKind.RAISES:
                            yield EdgeKind.NEXT, 1, (inner, edge.to)

    def _repeats(self, context: CallString, called: Function) -> bool:
        allowed = 1 + max(
            (sum(level.function is called for level in goal.stack.levels) for goal in self.goals), default=0
        )
        outer: CallString | None = context
        while outer is not None:
            allowed -= outer.function is called
            outer = outer.parent
        return allowed <= 0

    def interesting(self, function: Function, depth: int = 5) -> bool:
        """Whether a function, or what it calls, communicates, raises, exits or is on one of the stacks."""
        if function in self._wanted:
            return True
        if id(function) in self._interesting or depth <= 0:
            return self._interesting.get(id(function), False)
        self._interesting[id(function)] = False
        for node in function.own_nodes:
            if isinstance(node, ast.Raise) or (
                isinstance(node, ast.Call)
                and (
                    self.program.communicates(node, function)
                    or dotted(node.func) in exit_calls.LEAVING
                    or any(self.interesting(one, depth - 1) for one in self.program.targets(node, function))
                )
            ):
                self._interesting[id(function)] = True
                break
        return self._interesting[id(function)]

    # Distances

    def distances_to(self, goals: Collection[State]) -> dict[State, int]:
        """Returns the cost of the shortest way from each state to one of `goals`."""
        back: dict[State, list[tuple[int, State]]] = defaultdict(list)
        for state, ways in self.edges.items():
            for _, cost, to in ways:
                back[to].append((cost, state))
        distance: dict[State, int] = dict.fromkeys(goals, 0)
        waiting = [(0, number, state) for number, state in enumerate(goals)]
        count = len(waiting)
        while waiting:
            cost, _, state = heapq.heappop(waiting)
            if cost > distance[state]:
                continue
            for more, before in back[state]:
                if cost + more < distance.get(before, FAR):
                    distance[before] = cost + more
                    count += 1
                    heapq.heappush(waiting, (cost + more, count, before))
        return distance
