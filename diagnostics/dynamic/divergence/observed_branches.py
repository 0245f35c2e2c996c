"""Which way the values of a waiting rank send it at a test or loop of a function it is still in. Pure.

The agent writes what the variables of a waiting rank's frames hold. Where none of them was written since the test, as
far as the program tells, the test is worked out again: it came out differently on the ranks, or did not part them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Scalar
from diagnostics.dynamic.divergence.path_search import PathSearch
from diagnostics.dynamic.divergence.search_states import State
from diagnostics.dynamic.divergence.stack_alignment import StackLevel
from diagnostics.static.dataflow import known_values
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function
from diagnostics.static.program.cfg import EdgeKind, GraphNode, NodeKind

_DEEPEST = 4  # calls of calls that are looked through for writes of an attribute
_GROWS = ("append", "add")
_TESTS = (EdgeKind.TRUE, EdgeKind.FALSE)
Way = tuple[EdgeKind, int, State]  # an edge, its cost, and where it leads
Read = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class BranchObservation:
    """What the values say of one candidate, of the ranks here and there; None where they say nothing."""

    here: bool | None  # whether they send the ranks along the edge that leads to where they stand
    there: bool | None
    read_here: Read = ()
    read_there: Read = ()

    @property
    def parts(self) -> bool:
        """Whether the test came out differently, as the ways of the ranks say."""
        return self.here is True and self.there is True

    @property
    def refuted(self) -> bool:
        """Whether a rank's values send it the other way than it must have gone."""
        return self.here is False or self.there is False


NOTHING = BranchObservation(None, None)


def observed(search: PathSearch, state: State, ways: tuple[Way, Way]) -> BranchObservation:
    """Returns what the values of the waiting ranks say of a state that they left by these edges, here and there."""
    context, index = state
    node = context.function.graph.nodes[index]
    syntax = node.syntax
    if node.kind is NodeKind.TEST and isinstance(syntax, ast.expr):
        kept = [_values(search, state, ways[number], number, syntax) for number in (0, 1)]
        sent = [_is_sent(syntax, way, values) for way, values in zip(ways, kept, strict=True)]
        read = [tuple(known_values.read_in(syntax, values)) for values in kept]
        return BranchObservation(sent[0], sent[1], read[0], read[1])
    if node.kind is NodeKind.LOOP and isinstance(syntax, (ast.For, ast.AsyncFor)):
        kept = [_values(search, state, ways[number], number, syntax.iter) for number in (0, 1)]
        if not all(kept) and _counted_alike(search, context.function, syntax.iter):
            return BranchObservation(False, False)
        return _counted(syntax.iter, kept)
    return NOTHING


def _counted_alike(search: PathSearch, function: Function, iterable: ast.expr) -> bool:
    """Whether what `self` holds for a loop is as long on both sides, told by whatever activation each of them is in."""
    if not isinstance(iterable, ast.Attribute) or _root(iterable) != "self":
        return False
    name = f"len({ast.unparse(iterable)})"
    told = [
        {dict(level.values).get(name) for level in goal.stack.levels if level.function is function} - {None}
        for goal in search.goals
    ]
    return len(told) == 2 and len(told[0]) == 1 and told[0] == told[1]


def _is_sent(test: ast.expr, way: Way, values: known_values.Values) -> bool | None:
    fell = known_values.truth(test, values) if values and way[0] in _TESTS else None
    return None if fell is None else fell is (way[0] is EdgeKind.TRUE)


def _counted(iterable: ast.expr, values: Sequence[known_values.Values]) -> BranchObservation:
    """Whether a loop had as many turns on the ranks here as on those there: then it is not what parted them."""
    here, there = (known_values.turns(iterable, one) for one in values)
    if here is None or there is None:
        return NOTHING
    read = [tuple(known_values.read_in(iterable, one)) for one in values]
    return BranchObservation(here != there, here != there, read[0], read[1])


def _values(search: PathSearch, state: State, way: Way, number: int, expression: ast.expr) -> dict[str, Scalar]:
    """Returns the values of the activation in which a state is, {} where one that is read was written since."""
    context, index = state
    depth = context.agrees.get(number)
    if depth is None or way[2][0] is not context:
        return {}
    values = dict(search.goals[number].stack.levels[depth].values)
    if not values:
        return {}
    between = _between(context.function, way[2][1], index, search.nodes_of(number, depth))
    return {} if _is_written(expression, between, context.function, search.program) else values


def _between(function: Function, first: int, test: int, ends: frozenset[int]) -> list[GraphNode]:
    """Returns what may have run between the test and where the rank stands, without another turn of the test."""
    nodes = function.graph.nodes
    after = _reached([first], lambda index: [edge.to for edge in nodes[index].edges], test, ends)
    back: dict[int, list[int]] = {}
    for node in nodes:
        for edge in node.edges:
            back.setdefault(edge.to, []).append(node.index)
    before = _reached(list(ends), lambda index: back.get(index, []), test, frozenset())
    return [nodes[index] for index in after & before if index not in ends]


def _reached(start: list[int], ways: Callable[[int], Iterable[int]], barrier: int, ends: frozenset[int]) -> set[int]:
    seen: set[int] = set()
    todo = [index for index in start if index != barrier]
    while todo:
        index = todo.pop()
        if index in seen:
            continue
        seen.add(index)
        if index not in ends:
            todo += [to for to in ways(index) if to != barrier]
    return seen


def _is_written(expression: ast.expr, between: list[GraphNode], function: Function, program: CallGraph) -> bool:
    """Whether what an expression reads may have been written by these nodes, or by what they call."""
    names = {node.id for node in walk(expression) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in walk(expression) if isinstance(node, ast.Attribute)}
    shared = attributes or any(isinstance(node, ast.Subscript) for node in walk(expression))
    asked: set[int] = set()
    for node in between:
        if _writes(node.syntax, names, attributes):
            return True
        call = node.syntax if isinstance(node.syntax, ast.Call) else None
        if call is not None and isinstance(call.func, ast.Attribute) and _root(call.func) in names and not attributes:
            return True  # batches.append(...)
        if call is not None and shared and _callee_writes(call, function, attributes, program, asked, _DEEPEST):
            return True
    return False


def _writes(syntax: ast.AST | None, names: set[str], attributes: set[str]) -> bool:
    if syntax is None:
        return False
    if isinstance(syntax, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return syntax.name in names
    if isinstance(syntax, ast.ExceptHandler):
        return syntax.name in names
    parts = [syntax.target] if isinstance(syntax, (ast.For, ast.AsyncFor, ast.comprehension)) else [syntax]
    for part in parts:
        for node in walk(part):
            stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
            if isinstance(node, ast.Name) and stored and node.id in names:
                return True
            if isinstance(node, ast.Attribute) and stored and node.attr in attributes:
                return True
            if isinstance(node, ast.Subscript) and stored and _root(node) in names:
                return True
            if isinstance(node, ast.AugAssign) and _root(node.target) in names and not attributes:
                return True
    return False


def _callee_writes(
    call: ast.Call, function: Function, attributes: set[str], program: CallGraph, asked: set[int], deeper: int
) -> bool:
    for called in program.targets(call, function) if deeper else ():
        if id(called) in asked:
            continue
        asked.add(id(called))
        for node in called.own_nodes:
            stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
            if stored and (isinstance(node, ast.Subscript) or getattr(node, "attr", None) in attributes):
                return True
            if isinstance(node, ast.Call) and _callee_writes(node, called, attributes, program, asked, deeper - 1):
                return True
    return False


def _root(expression: ast.AST) -> str:
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def counted_apart(
    search: PathSearch, function: Function, block: Sequence[ast.AST], *, in_step: bool = False
) -> tuple[Read, Read] | None:
    """Returns a number that only some statements change, as it is here and there: one rank ran them more often.

    A counter of what was skipped, a list of what failed: no statement need be worked out again for it. `in_step`: only
    where nothing else differs that is known on both sides, since a rank that is a round ahead has counted more.
    """
    for name, target in _counted_by(block):
        told = [_value_of(goal.stack.levels, function, name) for goal in search.goals]
        if in_step and not _are_alike([goal.stack.levels for goal in search.goals], function, name):
            continue
        if None in told or told[0] == told[1] or _is_changed_outside(target, function, block, search.program):
            continue
        here, there = (((name, value),) if value is not None else () for value in told)
        return here, there
    return None


def _counted_by(block: Sequence[ast.AST]) -> list[tuple[str, str]]:
    """Returns the numbers that a block counts up, as the agent names them, and what is changed for it."""
    changed = [change for statement in block for node in walk(statement) if (change := _change(node))]
    return [(f"len({target})" if grown else target, target) for target, grown in changed]


def _change(node: ast.AST) -> tuple[str, bool] | None:
    """Returns the plain name or attribute of `self` that a statement adds to, and whether it is a container."""
    grown = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target: ast.AST = node.func.value
    elif isinstance(node, ast.AugAssign):
        target = node.target
    else:
        return None
    plain = isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and _root(target) == "self")
    return (ast.unparse(target), grown) if plain and (grown or isinstance(node, ast.AugAssign)) else None


def _value_of(levels: Sequence[StackLevel], function: Function, name: str) -> Scalar | None:
    own = name.removeprefix("len(").startswith("self.")
    for level in reversed(levels):
        same = level.function.owner is function.owner is not None if own else level.function is function
        if same and name in dict(level.values):
            return dict(level.values)[name]
    return None


def _are_alike(stacks: Sequence[Sequence[StackLevel]], function: Function, but: str) -> bool:
    """Whether the variables of a function that are known in both activations, but one, are the same."""
    known = [dict(level.values) for levels in stacks for level in levels if level.function is function]
    return all(
        one[name] == other[name] for one in known for other in known for name in one.keys() & other.keys() - {but}
    )


def _is_changed_outside(target: str, function: Function, block: Sequence[ast.AST], program: CallGraph) -> bool:
    inside = {id(node) for statement in block for node in walk(statement)}
    own = target.startswith("self.")
    methods = [one for one in program.functions if one.owner is function.owner is not None] if own else [function]
    changes = (node for one in methods for node in one.own_nodes if id(node) not in inside)
    return any(change is not None and change[0] == target for change in map(_change, changes))
