"""What the text of a test and the calls behind it say of it before any value does. Pure.

`if self.stage > 0: recv(...)` comes out the same on a rank all its life: where both ranks have received there, it is
not what sends them apart now, however much it depends on the rank. `if not batches: return` asks what a rank has in
hand, and each has its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.fixed_attributes import FixedAttributes
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function, last_name
from diagnostics.static.program.cfg import GraphNode, NodeKind

Made = frozenset[tuple[str, int]]  # file and line of calls that a side has made
_DEEPEST = 3  # calls and names between a test and what it was filled with
_MADE = (ast.ListComp, ast.SetComp, ast.DictComp)
_FILLS = {"append", "add", "extend", "update"}
_CONTAINERS = {"list", "dict", "set", "defaultdict", "OrderedDict", "deque", "Counter"}


def is_test_passed_alike(node: GraphNode, function: Function, made: Sequence[Made], fixed: FixedAttributes) -> bool:
    """Whether a node is the whole test of an `if` that both sides pass alike."""
    whole = node.kind is NodeKind.TEST and isinstance(node.statement, ast.If) and node.syntax is node.statement.test
    return whole and passed_alike(node.statement, function, made, fixed)


def passed_alike(branch: ast.AST | None, function: Function, made: Sequence[Made], fixed: FixedAttributes) -> bool:
    """Whether both sides have made calls in the same one arm of an `if` whose test never changes."""
    if not isinstance(branch, ast.If) or len(made) < 2 or not _never_changes(branch.test, function, fixed):
        return False
    arms = [_arms(branch, function.file, calls) for calls in made]
    return len(arms[0]) == 1 and all(one == arms[0] for one in arms)


def _arms(branch: ast.If, file: str, calls: Made) -> frozenset[str]:
    arms = (("body", branch.body), ("orelse", branch.orelse))
    return frozenset(name for name, block in arms if any(at == file and _has(block, line) for at, line in calls))


def _has(block: Sequence[ast.stmt], line: int) -> bool:
    return bool(block) and block[0].lineno <= line <= (block[-1].end_lineno or 0)


def _never_changes(test: ast.expr, function: Function, fixed: FixedAttributes) -> bool:
    """Whether a test reads constants, what constructors set, and ranks and their number by their usual names alone."""
    if any(isinstance(node, (ast.Call, ast.Mod, ast.FloorDiv, ast.Subscript)) for node in walk(test)):
        return False
    read = [node for node in walk(test) if isinstance(node, (ast.Attribute, ast.Name))]
    owners = {id(node.value) for node in read if isinstance(node, ast.Attribute)}
    return bool(read) and all(_is_fixed(one, function, fixed) for one in read if id(one) not in owners)


def _is_fixed(one: ast.Attribute | ast.Name, function: Function, fixed: FixedAttributes) -> bool:
    if isinstance(one, ast.Attribute):
        return fixed.holds(one)
    named = rank_words.OWN_RANK.search(one.id) or rank_words.WORLD_SIZE.match(one.id)
    return bool(named) and len(function.assigned.get(one.id, ())) <= 1 and one.id not in _taken(function)


def _taken(function: Function) -> Iterable[str]:
    """Returns the names that loops of a function set: `for rank in range(world_size)`."""
    loops = (one for one in function.own_nodes if isinstance(one, (ast.For, ast.AsyncFor, ast.comprehension)))
    return {name.id for loop in loops for name in walk(loop.target) if isinstance(name, ast.Name)}


def asks_size(test: ast.AST | None, function: Function, program: CallGraph) -> bool:
    """Whether a test reads how large something is that its function was handed, takes from a loop, or has gathered."""
    loops = [one for one in function.own_nodes if isinstance(one, (ast.For, ast.AsyncFor))]
    items = {one.id for loop in loops for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    given = items | (set(function.parameters) - {"self", "cls"})
    sizes = [
        one.args[0] if isinstance(one, ast.Call) and one.args else one
        for one in (ast.walk(test) if test is not None else ())
        if (isinstance(one, ast.Call) and last_name(one.func) == "len")
        or (isinstance(one, ast.Attribute) and one.attr in ("shape", "size", "numel"))
    ]
    if any(isinstance(name, ast.Name) and name.id in given for one in sizes for name in ast.walk(one)):
        return True
    asked = [test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test, *sizes]
    return any(isinstance(one, ast.Name) and _is_gathered(one, function, program, _DEEPEST) for one in asked)


def _is_gathered(value: ast.expr, function: Function, program: CallGraph, deeper: int) -> bool:
    """Whether a value is a container that was filled here, or in what it was got from, with what there was."""
    if isinstance(value, _MADE):
        return True
    if not deeper:
        return False
    if isinstance(value, ast.Name):
        made = function.assigned.get(value.id, ())
        return any(_is_gathered(one, function, program, deeper - 1) for one in made) or (
            any(_is_new(one) for one in made) and _is_added_to(value.id, function)
        )
    if not isinstance(value, ast.Call):
        return False
    return any(
        isinstance(node, ast.Return) and node.value is not None and _is_gathered(node.value, one, program, deeper - 1)
        for one in program.targets(value, function)
        for node in one.own_nodes
    )


def _is_new(value: ast.expr) -> bool:
    empty = isinstance(value, (ast.List, ast.Dict)) and not ast.unparse(value).strip("[]{} ")
    return empty or (isinstance(value, ast.Call) and last_name(value.func) in _CONTAINERS)


def _is_added_to(name: str, function: Function) -> bool:
    """Whether something is put into what a name holds: `found.append(x)`, `found[key] = x`."""
    for node in function.own_nodes:
        way = node.func if isinstance(node, ast.Call) else None
        if isinstance(way, ast.Attribute) and way.attr in _FILLS and ast.unparse(way.value) == name:
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == name:
            return True
    return False
