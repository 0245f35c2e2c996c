"""Whether the first round of a loop accumulates gradients without synchronising them. Pure."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from diagnostics.static.dataflow.inlined import inlined
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_OPTIMIZER = re.compile(r"(?:^|_)opt(?:s|im\w*)?(?:_|\d|$)|optim", re.IGNORECASE)
_MOST = 20  # values that a name may have been made of
_EVERY = 4  # micro-batches of a step, where their number is not known
_MANY = 1009  # batches of an epoch: more than are gone through here, and no multiple of any number of micro-batches
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Add: operator.add, ast.Sub: operator.sub, ast.Mod: operator.mod,
}  # fmt: skip


def unsynchronised_first_round(node: ast.With, function: Function, file: ProjectFile) -> bool | None:
    """Returns whether `with ... no_sync()` is entered without sync in the first round, None where that is not seen."""
    loop = _loop_around(node, file)
    counter = _counter(loop) if loop is not None else {}
    for item in node.items:
        context = entered_by(item, function)
        if isinstance(context, ast.IfExp):
            taken = _value(context.test, counter, function)
            skips = any(isinstance(one, ast.Attribute) and one.attr == "no_sync" for one in walk(context.body))
            return None if taken is None else bool(taken) is skips
    parent = file.parents.get(node)
    if isinstance(parent, ast.If):
        taken = _value(parent.test, counter, function)
        return None if taken is None else bool(taken) is (node in parent.body)
    return True if parent is loop or isinstance(parent, ast.FunctionDef) else None


def skips_stepping_round(node: ast.With, function: Function, project: Project) -> tuple[ast.expr, ast.If] | None:
    """Returns the test of `no_sync()` and the step that comes in a round which it leaves unsynchronised."""
    file = project.file_with(function)
    loop = _loop_around(node, file)
    counter = _counter(loop) if loop is not None else {}
    test, without_sync = _choice(node, function, project)
    if loop is None or not counter or test is None:
        return None
    name, first = next(iter(counter.items()))
    names = [name, *_followers(loop, name)]
    asked = inlined(test, function, project)
    for branch in (one for one in loop.body if isinstance(one, ast.If)):
        if not any(_steps(inner) for part in branch.body for inner in walk(part)):
            continue
        if any(inner is node for inner in walk(branch)):
            continue  # a flag stands around both
        rounds = [
            [
                _value(one, dict.fromkeys(names, first + number), function)
                for one in (asked, inlined(branch.test, function, project))
            ]
            for number in range(2 * _EVERY)
        ]
        if any(value is None for several in rounds for value in several):
            continue
        if any(bool(skipped) is without_sync and stepped for skipped, stepped in rounds):
            return test, branch
    return None


def unsynchronised_where_it_steps(
    node: ast.With, function: Function, project: Project
) -> tuple[ast.expr, ast.If, Function] | None:
    """Returns the test under which a method gives no_sync(), where the optimizer of its object steps under the same.

    `if self.final: return self.model.no_sync()`, and in another method `if self.final: self.optimizer.step()`.
    """
    called = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    for target in (one for call in called for one in project.targets(call, function) if one.owner is not None):
        skips = [
            one
            for one in target.nodes_of(ast.If)
            if isinstance(one, ast.If) and any(map(_names_no_sync, _given_back(one)))
        ]
        for chosen in skips:
            parts = chosen.test.values if isinstance(chosen.test, ast.BoolOp) else [chosen.test]
            asked = {ast.unparse(one) for one in parts}
            for method in project.functions_in(target.source):
                for branch in method.nodes_of(ast.If) if project.class_of(method) is target.owner else ():
                    if isinstance(branch, ast.If) and any(_steps(one) for part in branch.body for one in walk(part)):
                        made = method.assigned.get(branch.test.id, []) if isinstance(branch.test, ast.Name) else []
                        test = made[0] if len(made) == 1 else branch.test
                        if ast.unparse(test) in asked and not isinstance(test, ast.Constant):
                            return chosen.test, branch, target
    return None


def _given_back(branch: ast.If) -> list[ast.expr]:
    """Returns what the arm of a branch gives back."""
    return [one.value for one in branch.body if isinstance(one, ast.Return) and one.value is not None]


def steps_without_sync(node: ast.With) -> ast.Call | None:
    """Returns the optimizer step that stands in the block of `with model.no_sync()` itself, behind a backward in it."""
    if not any(isinstance(one.context_expr, ast.Call) and _names_no_sync(one.context_expr.func) for one in node.items):
        return None
    nodes = [one for part in node.body for one in walk(part)]
    backward = [one for one in nodes if isinstance(one, ast.Call) and last_name(one.func) == "backward"]
    steps = [one for one in nodes if isinstance(one, ast.Call) and _steps(one)]
    return next((one for one in steps if any(before.lineno <= one.lineno for before in backward)), None)


def _steps(node: ast.AST) -> bool:
    """Whether a node is a step of an optimizer, by itself or by a scaler: `scaler.step(optimizer)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"):
        return False
    return any(_OPTIMIZER.search(last_name(one)) is not None for one in (node.func.value, *node.args[:1]))


def _followers(loop: ast.For, name: str) -> list[str]:
    """Returns the attributes that are set to the counter in each round: `state.step = step`."""
    sets = (one for one in loop.body if isinstance(one, ast.Assign) and ast.unparse(one.value) == name)
    return [ast.unparse(target) for one in sets for target in one.targets if isinstance(target, ast.Attribute)]


def _choice(node: ast.With, function: Function, project: Project) -> tuple[ast.expr | None, bool]:
    """Returns what decides whether a `with` synchronises, and how it falls where it does not."""
    file = project.file_with(function)
    for item in node.items:
        given = inlined(item.context_expr, function, project)
        named = given.func if isinstance(given, ast.Call) else given
        values = function.assigned.get(named.id, []) if isinstance(named, ast.Name) else [given]
        for value in values:
            if isinstance(value, ast.IfExp):
                skips = [_names_no_sync(arm) for arm in (value.body, value.orelse)]
                if any(skips) and not all(skips):
                    return value.test, skips[0]
        if isinstance(named, ast.Name) and (chosen := _chosen_before(named.id, node, function, file)) is not None:
            return chosen
        if (
            isinstance(item.optional_vars, ast.Name)
            and (test := _entered_later(item.optional_vars.id, node)) is not None
        ):
            return test, True
    parent = file.parents.get(node)
    direct = any(_names_no_sync(item.context_expr) for item in node.items)
    if direct and isinstance(parent, ast.If):
        return parent.test, node in parent.body
    return None, False


def _chosen_before(name: str, node: ast.With, function: Function, file: ProjectFile) -> tuple[ast.expr, bool] | None:
    """Returns the test of the branch in which a name is made no_sync(), in the same block as the `with` of the name.

    `if i % n: context = model.no_sync()`, and the name is something else in the other arm, or before the branch.
    """
    sets = [
        one
        for one in function.nodes_of(ast.Assign)
        if isinstance(one, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in one.targets)
    ]
    kept = [one for one in sets if _names_no_sync(one.value)]
    branch = file.parents.get(kept[0]) if len(kept) == 1 and len(sets) == 2 else None
    if not isinstance(branch, ast.If) or file.parents.get(branch) is not file.parents.get(node):
        return None
    in_body = kept[0] in branch.body
    other = next(one for one in sets if one is not kept[0])
    instead = other in (branch.orelse if in_body else branch.body)
    before = file.parents.get(other) is file.parents.get(branch) and other.lineno < branch.lineno
    return (branch.test, in_body) if instead or before else None


def _entered_later(stack: str, node: ast.With) -> ast.expr | None:
    """Returns the test under which the block of `with ExitStack() as stack` enters no_sync()."""
    for branch in (one for one in node.body if isinstance(one, ast.If)):
        for call in (inner for part in branch.body for inner in walk(part) if isinstance(inner, ast.Call)):
            if ast.unparse(call.func) == f"{stack}.enter_context" and any(map(_names_no_sync, call.args)):
                return branch.test
    return None


def _names_no_sync(value: ast.expr) -> bool:
    return any(isinstance(one, ast.Attribute) and one.attr == "no_sync" for one in walk(value))


def entered_by(item: ast.withitem, function: Function) -> ast.expr:
    """Returns the context of a `with`, also where it has been given a name."""
    given = item.context_expr
    values = function.assigned.get(given.id, []) if isinstance(given, ast.Name) else []
    return values[0] if len(values) == 1 else given


def _loop_around(node: ast.AST, file: ProjectFile) -> ast.For | None:
    here: ast.AST | None = node
    while here is not None and not isinstance(here, (ast.For, ast.FunctionDef)):
        here = file.parents.get(here)
    return here if isinstance(here, ast.For) else None


def _counter(loop: ast.For) -> Mapping[str, int]:
    """Returns the loop's counter with its first value."""
    over = loop.iter
    if not isinstance(over, ast.Call):
        return {}
    name = last_name(over.func)
    target = loop.target.elts[0] if name == "enumerate" and isinstance(loop.target, ast.Tuple) else loop.target
    starts = over.args[1:2] if name == "enumerate" else over.args[:1] if len(over.args) > 1 else []
    starts += [one.value for one in over.keywords if one.arg == "start"]
    first = starts[0].value if starts and isinstance(starts[0], ast.Constant) else 0
    counts = name in ("enumerate", "range") and isinstance(target, (ast.Name, ast.Attribute))
    return {ast.unparse(target): first} if counts and isinstance(first, int) else {}


def _is_flag(part: ast.expr, counter: Mapping[str, int], function: Function) -> bool:
    """Whether a part of a test has nothing to do with the round: `self.use_ddp`, `dist.is_initialized()`."""
    waiting, seen = [part], 0
    while waiting and seen < _MOST:
        seen += 1
        for node in walk(waiting.pop()):
            if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in counter:
                return False
            if isinstance(node, ast.Name):
                waiting += function.assigned.get(node.id, ())
    return not waiting and bool(counter)


def _value(test: ast.expr, counter: Mapping[str, int], function: Function, rounds: int = 3) -> Any:
    """Returns what a test comes to in the first round, None where that is not known."""
    match test:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name() | ast.Attribute() if ast.unparse(test) in counter:
            return counter[ast.unparse(test)]
        case ast.Name(id=name) if len(function.assigned.get(name, ())) == 1 and rounds:
            return _value(function.assigned[name][0], counter, function, rounds - 1)
        case ast.Name() | ast.Attribute():
            return _EVERY if counter else None
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            known = _value(inner, counter, function, rounds)
            return None if known is None else not known
        case ast.BoolOp(op=op, values=parts):
            told = [_value(one, counter, function, rounds) for one in parts if not _is_flag(one, counter, function)]
            ends = isinstance(op, ast.Or)
            if any(one is not None and bool(one) is ends for one in told):
                return ends
            return None if None in told or not told else not ends
        case ast.Call(func=ast.Name(id="len")):
            return _MANY
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            one, other = (_value(part, counter, function, rounds) for part in (left, right))
            known_operator = _OPERATORS.get(type(op))
            return None if one is None or other is None or known_operator is None else known_operator(one, other)
    return None
