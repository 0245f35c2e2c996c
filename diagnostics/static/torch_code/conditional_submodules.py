"""Branches of a module's forward that use a part in some steps and not in others. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.submodules import Submodule, is_part, parts_of

_CHANCE = frozenset(["rand", "random", "bernoulli", "randint", "uniform", "choice", "rand_like", "randn"])
_CONTENT = frozenset(["item", "any", "all", "tolist", "nonzero", "equal", "allclose"])
# What gives as many rows as the data have of a kind, and what asks how many those are.
_SELECTS = frozenset(["where", "nonzero", "argwhere", "masked_select", "flatnonzero"])
_COUNTS = frozenset(["numel", "len", "size", "sum", "count_nonzero", *_CONTENT])
_SIZES = frozenset(["shape", "size", "device", "dtype", "dim", "ndim"])
_COUNTERS = re.compile(r"^(?:global_|cur_|current_|n_)?(?:step|epoch|iteration|iter|it|steps|epochs)$")

_ROUNDS = 8  # assignments from what forward is given to a mask


@dataclass(frozen=True, slots=True)
class ConditionalUse:
    """A branch of forward that decides from step to step whether a part is used."""

    branch: ast.If
    function: Function
    part: Submodule
    why: str


def changing_branches(kind: ast.ClassDef, project: Project) -> Iterator[ConditionalUse]:
    """Yields the branches of a class's own forward that use a part in some steps and not in others."""
    forward = project.method(kind, "forward")
    if forward is None or project.class_of(forward) is not kind:
        return
    parts = {part.name: part for part in parts_of(kind, project)}
    for node in forward.own_nodes:
        if isinstance(node, ast.For):
            yield from _in_loop(node, parts, forward)
        elif isinstance(node, ast.If) and (why := _changes(node.test, forward)):
            only = [part for name, part in parts.items() if _only_here(name, node, forward)]
            yield from (ConditionalUse(node, forward, part, why) for part in only[:1])


def _in_loop(loop: ast.For, parts: Mapping[str, Submodule], forward: Function) -> Iterator[ConditionalUse]:
    """Yields the branches by which a loop over layers leaves one out."""
    over = [part for name, part in parts.items() if _uses(loop.iter, name) and not _touches_all(name, forward)]
    for node in loop.body if over else ():
        why = _changes(node.test, forward) if isinstance(node, ast.If) else ""
        if isinstance(node, ast.If) and why and (_skips(node) or (_calls(node.body, loop.target) and not node.orelse)):
            yield ConditionalUse(node, forward, over[0], why)


def _changes(test: ast.expr, forward: Function) -> str:
    """Returns why a test answers differently from step to step, "" where that is not seen."""
    asks_for_none = any(isinstance(op, (ast.Is, ast.IsNot)) for one in walk(test)
                        for op in getattr(one, "ops", ()))  # fmt: skip
    counted = {one.target.attr for one in forward.nodes_of(ast.AugAssign)
               if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Attribute)}  # fmt: skip
    for one in [inner for value in (test, *_assigned_once(test, forward)) for inner in walk(value)]:
        if isinstance(one, ast.Call) and last_name(one.func) in _CHANCE:
            return "chance decides"
        if isinstance(one, ast.Call) and last_name(one.func) in _CONTENT and _of_input(one, forward):
            return "the data decide"
        if isinstance(one, ast.Name) and one.id in forward.parameters and _COUNTERS.match(one.id) and not asks_for_none:
            return f"`{one.id}` decides"
        if isinstance(one, ast.Attribute) and one.attr in counted and not asks_for_none:
            return f"how often forward has run (`{ast.unparse(one)}`) decides"
    return "the data decide" if not asks_for_none and _counts_selected(test, forward) else ""


def _counts_selected(test: ast.expr, forward: Function) -> bool:
    """Whether a test asks how much of the data was selected: `rows.numel() == 0` of `rows = where(chosen == i)`."""
    values = _assignments(forward)
    data = set(forward.parameters[1:])
    for _ in range(_ROUNDS):
        data |= {name for name, value in values if data & _read_whole(value)}
    selected = {name for name, value in values if _selects(value) and data & _read_whole(value)}
    for one in walk(test):
        asks = isinstance(one, ast.Call) and last_name(one.func) in _COUNTS
        asks = asks or (isinstance(one, ast.Attribute) and one.attr == "shape")
        if asks and any(isinstance(inner, ast.Name) and inner.id in selected for inner in walk(one)):
            return True
    return False


def _assignments(forward: Function) -> list[tuple[str, ast.expr]]:
    """Returns (name, value) of each assignment, of `a, b = f()` both names."""
    return [
        (inner.id, node.value)
        for node in forward.nodes_of((ast.Assign, ast.NamedExpr))
        if isinstance(node, (ast.Assign, ast.NamedExpr))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for inner in walk(target)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    ]


def _read_whole(value: ast.expr) -> set[str]:
    """Returns the names whose content a value is made of, not only their shapes."""
    sizes = {id(inner) for one in walk(value) if isinstance(one, ast.Attribute) and one.attr in _SIZES
             for inner in walk(one)}  # fmt: skip
    return {one.id for one in walk(value) if isinstance(one, ast.Name) and id(one) not in sizes}


def _selects(value: ast.expr) -> bool:
    """Whether a value holds where a comparison is true: a mask, or the rows of one."""
    compares = any(isinstance(one, ast.Compare) for one in walk(value))
    called = {last_name(one.func): len(one.args) for one in walk(value) if isinstance(one, ast.Call)}
    return (compares and (isinstance(value, ast.Compare) or called.get("where") == 1 or not called)) or bool(
        called.keys() & (_SELECTS - {"where"})
    )


def _assigned_once(test: ast.expr, forward: Function) -> list[ast.expr]:
    """Returns what a test's names stand for, of those that forward assigns once."""
    names = [one.id for one in walk(test) if isinstance(one, ast.Name)]
    values = [forward.assigned.get(name, []) for name in names if name not in forward.parameters]
    return [several[0] for several in values if len(several) == 1]


def _of_input(call: ast.Call, forward: Function) -> bool:
    """Whether a call asks for the content of what forward is given."""
    return isinstance(call.func, ast.Attribute) and any(
        isinstance(one, ast.Name) and one.id in forward.parameters[1:] for one in walk(call)
    )


def _only_here(name: str, branch: ast.If, forward: Function) -> bool:
    """Whether forward uses a part in the one arm of a branch and nowhere else."""
    inside = {id(one) for part in branch.body for one in walk(part)}
    uses = [one for one in forward.own_nodes if is_part(one) and getattr(one, "attr", "") == name]
    return bool(uses) and all(id(one) in inside for one in uses)


def _uses(value: ast.AST, name: str) -> bool:
    return any(is_part(one) and getattr(one, "attr", "") == name for one in walk(value))


def _touches_all(name: str, forward: Function) -> bool:
    """Whether forward goes over all parameters of a part, so that each has a gradient, be it of 0."""
    reads = (one for one in forward.own_nodes if isinstance(one, ast.Attribute) and one.attr == "parameters")
    return any(_uses(one.value, name) for one in reads)


def _skips(node: ast.If) -> bool:
    return any(isinstance(one, (ast.Continue, ast.Break)) for one in node.body)


def _calls(body: list[ast.stmt], target: ast.expr) -> bool:
    names = {one.id for one in walk(target) if isinstance(one, ast.Name)}
    calls = (one for statement in body for one in walk(statement) if isinstance(one, ast.Call))
    return any(isinstance(one.func, ast.Name) and one.func.id in names for one in calls)
