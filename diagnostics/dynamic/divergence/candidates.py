"""From a node at which two ways part to the lines that say so: the statement, what it jumps to, where it comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.branch_tests import asks_size, is_test_passed_alike
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.observed_branches import BranchObservation, counted_apart, observed
from diagnostics.dynamic.divergence.path_search import PathSearch
from diagnostics.dynamic.divergence.search_states import State, frame_of
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import (
    DATA,
    ENVIRONMENT,
    EXCEPTION,
    ORDER,
    RANK,
    WEIGHTS,
    Taint,
)
from diagnostics.static.program import ast_walk
from diagnostics.static.program.call_graph import CallGraph, Function, last_name
from diagnostics.static.program.cfg import EdgeKind, GraphNode, NodeKind

STRENGTH = 6  # points for each goal that only one of the two ways reaches
_NEAR = 6
HIGHEST = WEIGHTS[RANK] + 2 * STRENGTH + _NEAR
_HANDLES, _SEEN, _INSIDE = 56, 86, 16  # a handler; one that is known to have caught; the wait stands in it
_OBSERVED = 100  # the values of the waiting ranks send them apart there
_REFUTED = 1  # they send a rank the other way than it went
_RAISES_UNSEEN, _PLAIN_TEST, _SIZE_TEST, _PLAIN_LOOP, _COUNTED_LOOP, _CALLS = 6, 14, 34, 30, 4, 8
_DATA_LOOP = 36  # how many batches a rank has: always possible, seldom the reason
_JUMPS = {
    NodeKind.BREAK: StatementKind.LEAVES_LOOP,
    NodeKind.CONTINUE: StatementKind.SKIPS,
    NodeKind.RETURN: StatementKind.RETURNS,
    NodeKind.RAISE: StatementKind.RAISES,
    NodeKind.EXIT_CALL: StatementKind.EXITS,
}
# What counts, and what a model or an optimizer of torch has on every rank alike.
_AS_OFTEN = {"range", "count", "trange", "param_groups", "parameters", "named_parameters", "modules", "named_modules",
             "children", "named_children", "buffers", "named_buffers"}  # fmt: skip
_JUMPING = (ast.Continue, ast.Break, ast.Return)
_NEVER_CAUGHT = {"KeyboardInterrupt", "ImportError", "ModuleNotFoundError", "GeneratorExit"}


@dataclass(frozen=True)
class Branching:
    """A state with the edges by which the ways to the two places leave it, and those ways."""

    state: State
    here: tuple[EdgeKind, int, State]
    there: tuple[EdgeKind, int, State]
    strength: int  # how many of the goals only one of the edges leads to
    start: int  # cost of the way from the start
    way_here: tuple[State, ...]
    way_there: tuple[State, ...]

    @property
    def function(self) -> Function:
        """Where it stands."""
        return self.state[0].function

    @property
    def node(self) -> GraphNode:
        """What it is."""
        return self.function.graph.nodes[self.state[1]]


def candidates_of(candidate: Branching, walk: PathSearch, taints: RankTaint) -> list[DivergencePoint]:
    """Returns the decisions of one candidate, its own line first."""
    handler = _handler(candidate)
    if handler is not None:
        return _handled(candidate, handler, walk, taints)
    return _own(candidate, walk, taints)


def _own(candidate: Branching, walk: PathSearch, taints: RankTaint) -> list[DivergencePoint]:
    node = candidate.node
    near = max(0, _NEAR - candidate.start // 8)
    bonus = STRENGTH * candidate.strength + near
    kind, taint, score = StatementKind.BRANCH, None, 0
    if node.kind is NodeKind.TEST:
        kind, taint, score = _test(candidate, taints)
    elif node.kind is NodeKind.LOOP and candidate.here[0] is not candidate.there[0]:
        kind, taint, score = _loop(candidate, taints)
    elif EdgeKind.RAISES in (candidate.here[0], candidate.there[0]):
        cost = candidate.here[1] if candidate.here[0] is EdgeKind.RAISES else candidate.there[1]
        kind, score = StatementKind.RAISES, 75 if cost == 1 else _RAISES_UNSEEN
        if cost == 1:
            taint = Taint(EXCEPTION, candidate.function.file, node.line, candidate.function.name)
    elif node.kind is NodeKind.CALL:
        kind, score = StatementKind.CALLS, _CALLS
    else:
        return []
    if score < 0:
        return []
    seen = observed(walk, candidate.state, (candidate.here, candidate.there))
    alike = is_test_passed_alike(node, candidate.function, walk.made, taints.fixed)
    if (seen.refuted and (node.kind is NodeKind.LOOP or not _varies(taint))) or (alike and not seen.parts):
        return [decision(candidate.function, node.line, kind, None, _REFUTED)]
    arms = [counted_apart(walk, candidate.function, arm, in_step=True) for arm in _jumping_arms(node)]
    for here, there in filter(None, arms if not seen.parts else ()):
        seen = BranchObservation(True, True, here, there)
    score = _OBSERVED + bonus if seen.parts else score + bonus if score > _COUNTED_LOOP else score
    first = decision(candidate.function, node.line, kind, taint, score)
    first = replace(
        first,
        by_size=kind is StatementKind.BRANCH and asks_size(node.syntax, candidate.function, taints.program),
        here_line=_next_line(candidate.way_here, node),
        there_line=_next_line(candidate.way_there, node),
        observed=seen.parts,
        here_values=seen.read_here,
        there_values=seen.read_there,
    )
    return [first, *_follow(first, candidate, taint, walk), *_read_by(first, candidate, taints)]


def _jumping_arms(node: GraphNode) -> list[list[ast.stmt]]:
    """Returns the arms that end in a jump, of the `if` to whose test a node belongs: they count what was left out."""
    branch = node.statement
    if node.kind is not NodeKind.TEST or not isinstance(branch, ast.If) or not _within(node.syntax, branch.test):
        return []
    return [arm for arm in (branch.body, branch.orelse) if arm and isinstance(arm[-1], _JUMPING)]


def _varies(taint: Taint | None) -> bool:
    """Whether what a statement read may have been another in an earlier round: the values of now do not clear it."""
    return taint is not None and taint.why not in (RANK, ENVIRONMENT, ORDER)


def _test(candidate: Branching, taints: RankTaint) -> tuple[StatementKind, Taint | None, int]:
    node, function = candidate.node, candidate.function
    loop = isinstance(node.statement, ast.While) and _within(node.syntax, node.statement.test)
    kind = StatementKind.LOOP if loop else StatementKind.BRANCH
    taint = taints.of(node.syntax, function)
    if taint is None and isinstance(node.statement, ast.Match):
        taint = taints.of(node.statement.subject, function)
    if "__name__" in ast.unparse(node.syntax) if isinstance(node.syntax, ast.Compare) else False:
        return kind, None, -1
    plain = _SIZE_TEST if _jumping_arms(node) and asks_size(node.syntax, function, taints.program) else _PLAIN_TEST
    return kind, taint, taint.weight if taint is not None else plain


def _loop(candidate: Branching, taints: RankTaint) -> tuple[StatementKind, Taint | None, int]:
    iterable = candidate.node.syntax.iter  # type: ignore[union-attr]  # the syntax of a LOOP is a for or a comprehension
    taint = taints.of_loop(iterable, candidate.function)
    if taint is not None:
        return StatementKind.LOOP, taint, _DATA_LOOP if taint.why == DATA and not taint.control else taint.weight
    counted = isinstance(iterable, (ast.List, ast.Tuple)) or last_name(iterable) in _AS_OFTEN
    if counted or taints.fixed.holds(iterable):
        return StatementKind.LOOP, None, _COUNTED_LOOP
    content = taints.of(iterable, candidate.function)
    return StatementKind.LOOP, content if content is not None and content.why == DATA else None, _PLAIN_LOOP


def decision(function: Function, line: int, kind: StatementKind, taint: Taint | None, score: int) -> DivergencePoint:
    """Returns a decision at a line of a function's file."""
    lines = function.source.lines
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return DivergencePoint(
        kind=kind, frame=function.frame(line), text=text, tainted_by=taint.why if taint else "", score=score
    )


# Further lines


def _follow(
    first: DivergencePoint, candidate: Branching, taint: Taint | None, walk: PathSearch
) -> Iterator[DivergencePoint]:
    """Yields the jump that the statement guards, and the line where the difference comes from."""
    for way in (candidate.way_here, candidate.way_there):
        jump = _jump(way, candidate)
        if jump is not None and jump.line != candidate.node.line:
            one = decision(candidate.function, jump.line, _JUMPS[jump.kind], taint, first.score - 1)
            yield replace(one, here_line=first.here_line, there_line=first.there_line)
    if taint is not None:
        yield from origin(first, taint, walk.program)


def origin(first: DivergencePoint, taint: Taint, program: CallGraph) -> Iterator[DivergencePoint]:
    """Yields the line in which the difference comes in, where that is another one."""
    if (taint.file, taint.line) == (first.frame.file, first.frame.line):
        return
    file = program.files.get(taint.file)
    if file is None or not 0 < taint.line <= len(file.lines):
        return
    registers = first.kind is StatementKind.LOOP and taint.control and isinstance(taint.syntax, ast.If)
    ordered = isinstance(taint.syntax, (ast.For, ast.AsyncFor))  # over a set: ranks take its items in other orders
    text = file.lines[taint.line - 1].strip()
    kind = (
        StatementKind.BRANCH if text.startswith(("if ", "elif ", "while ")) or " if " in text else StatementKind.CALLS
    )
    if ordered:
        kind = StatementKind.LOOP
    if text.startswith("return"):
        kind = StatementKind.RETURNS
    if text.startswith("except"):
        kind = StatementKind.HANDLES
    frame = Frame(file=taint.file, line=taint.line, function=taint.function)
    score = first.score + 1 if registers or ordered else first.score - 1
    yield DivergencePoint(
        kind=kind, frame=frame, text=text, tainted_by=taint.why, score=score,
        here_line=first.here_line, there_line=first.there_line,
    )  # fmt: skip


def _read_by(first: DivergencePoint, candidate: Branching, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the loop that reads the generator in which a decision stands; first where that only passes items on."""
    context = candidate.state[0]
    if context.how != "items" or context.parent is None:
        return
    outer = context.parent.function
    loop = outer.graph.nodes[context.at]
    taint = taints.of_loop(loop.syntax.iter, outer) if isinstance(loop.syntax, (ast.For, ast.AsyncFor)) else None
    score = first.score + 1 if first.kind is StatementKind.LOOP else first.score - 1
    one = decision(outer, loop.line, StatementKind.LOOP, taint, score)
    yield replace(one, here_line=first.here_line, there_line=first.there_line)


def _jump(way: tuple[State, ...], candidate: Branching) -> GraphNode | None:
    statement = candidate.node.statement
    for context, index in way[:12]:
        if context is not candidate.state[0]:
            continue
        node = context.function.graph.nodes[index]
        if node.kind in _JUMPS:
            inside = statement is not None and statement.lineno <= node.line <= (statement.end_lineno or 0)
            return node if inside else None
        if node.kind in (NodeKind.TEST, NodeKind.LOOP):
            return None
    return None


def _next_line(way: tuple[State, ...], node: GraphNode) -> Frame | None:
    for state in way:
        line = state[0].function.graph.nodes[state[1]].line
        if line and line != node.line:
            return frame_of(state)
    return frame_of(way[-1]) if way else None


# Handlers


def _handler(candidate: Branching) -> State | None:
    """Returns the handler that one of the two ways goes through, the other not; None where there is none."""
    here, there = (
        [s for s in way if _node(s).kind is NodeKind.HANDLER] for way in (candidate.way_here, candidate.way_there)
    )
    for own, other in ((here, there), (there, here)):
        if own and own[0] not in other:
            handler = _node(own[0]).syntax
            kind = getattr(handler, "type", None)
            if kind is None or last_name(kind) not in _NEVER_CAUGHT:
                return own[0]
    return None


def _handled(candidate: Branching, handler: State, walk: PathSearch, taints: RankTaint) -> list[DivergencePoint]:
    node, function = candidate.node, handler[0].function
    way = candidate.way_here if handler in candidate.way_here else candidate.way_there
    edge = candidate.here if way is candidate.way_here else candidate.there
    seen = (candidate.function.file, node.line) in walk.caught or any(
        (state[0].function.file, _node(state).line) in walk.caught for state in way[: way.index(handler)]
    )
    raised = any(_node(state).kind is NodeKind.RAISE for state in way[: way.index(handler)])
    syntax = _node(handler).syntax
    counted = counted_apart(walk, function, getattr(syntax, "body", ()))
    seen = seen or counted is not None
    inside = _spans(syntax, _node(way[-1]).line) and way[-1][0].function is function
    score = _HANDLES + STRENGTH * candidate.strength + (_SEEN if seen else 0) + (_INSIDE if inside or raised else 0)
    taint = Taint(EXCEPTION, function.file, _node(handler).line, function.name)
    own = _own(candidate, walk, taints) if node.kind in (NodeKind.TEST, NodeKind.LOOP) else []
    if edge[0] is EdgeKind.RAISES:
        own = []  # a loop whose next item raised
    kind = StatementKind.HANDLES
    first = decision(function, _node(handler).line, kind, taint, max(score, max((d.score for d in own), default=0) + 1))
    here, there = (
        first.frame if handler in one else _next_line(one, _node(handler))
        for one in (candidate.way_here, candidate.way_there)
    )
    first = replace(first, here_line=here, there_line=there)
    if counted is not None:
        first = replace(first, observed=True, here_values=counted[0], there_values=counted[1])
    if own:
        return [first, *own]
    if edge[0] is not EdgeKind.RAISES:
        return [first]
    known = (candidate.function.file, node.line) in walk.caught
    explicit = node.kind is NodeKind.RAISE
    tainted = taints.of(node.syntax, candidate.function) is not None
    less = 1 if known else 2 if explicit else 8 if tainted else 12
    return [first, decision(candidate.function, node.line, StatementKind.RAISES, taint, first.score - less)]


def _node(state: State) -> GraphNode:
    return state[0].function.graph.nodes[state[1]]


def _spans(syntax: ast.AST | None, line: int) -> bool:
    return syntax is not None and getattr(syntax, "lineno", 0) <= line <= (getattr(syntax, "end_lineno", 0) or 0)


def _within(node: ast.AST | None, outer: ast.AST) -> bool:
    return any(one is node for one in ast_walk.walk(outer)) or isinstance(node, ast.BoolOp)


def is_rank_gated(name: str) -> bool:
    """Whether a decorator of this name lets only one rank run a function."""
    return rank_words.MAY_RUN_ON_ONE.search(name) is not None
