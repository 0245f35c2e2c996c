"""Conditions on the data that decide what a loss is made of: `if mask.any(): loss = loss + head_loss`. Pure.

From the value that backward is called on, backwards through assignments and through the functions of the project that
give them. What is decided by settings alone (`if self.use_aux:`) is the same in every step, and is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import CallGraph, Function, last_name

DEEPEST = 4  # calls from the one that holds the backward pass
_GIVES_THE_LOSS = frozenset(["training_step", "compute_loss"])  # of trainers that call backward themselves


def loss_conditions(program: CallGraph) -> tuple[Frame, ...]:
    """Returns the lines of such conditions, those nearest to the backward pass first."""
    found: dict[tuple[str, int], Frame] = {}
    waiting: list[tuple[Function, list[ast.expr], int]] = []
    for function in program.functions:
        values = list(_backward_values(function))
        if function.name.rpartition(".")[2] in _GIVES_THE_LOSS:
            values += _returned(function)
        if values:
            waiting.append((function, values, 0))
    seen = {id(function) for function, _, _ in waiting}
    while waiting:
        function, values, depth = waiting.pop(0)
        names, calls = _slice(function, values)
        for line in _deciding(function, names):
            found.setdefault((function.file, line), function.frame(line))
        for call in calls if depth < DEEPEST else ():
            for target in program.targets(call, function):
                if id(target) not in seen:
                    seen.add(id(target))
                    waiting.append((target, list(_returned(target)), depth + 1))
    return tuple(found.values())


def _backward_values(function: Function) -> Iterator[ast.expr]:
    """Yields what `loss.backward()`, `scaler.scale(loss).backward()` and `accelerator.backward(loss)` start from."""
    for call in function.nodes_of((ast.Call,)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            yield from call.args[:1] or [call.func.value]


def _returned(function: Function) -> list[ast.expr]:
    if isinstance(function.syntax, ast.Lambda):
        return [function.syntax.body]
    returns = function.nodes_of((ast.Return,))
    return [node.value for node in returns if isinstance(node, ast.Return) and node.value is not None]


def _slice(function: Function, values: list[ast.expr]) -> tuple[set[str], list[ast.Call]]:
    """Returns the local names that a value is made of, and the calls that give it or them."""
    names: set[str] = set()
    calls: dict[int, ast.Call] = {}
    waiting = list(values)
    made = [(base, value) for node in function.own_nodes for base, value in _made(node)]
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, ast.Call):
                calls[id(node)] = node
            if isinstance(node, ast.Name) and node.id not in names:
                names.add(node.id)
                waiting += [value for base, value in made if base == node.id]
    return names, list(calls.values())


def _made(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields (name, value) of each name that a statement changes, also by `name[key] = value`, `name.append(value)`."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if base := _base(one):
                    yield base, node.value
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
        if base := _base(node.target):
            yield base, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        base = _base(node.func.value)
        if base and node.func.attr in ("append", "add_", "update", "extend"):
            yield base, node.args[-1]


def _base(target: ast.expr) -> str:
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _deciding(function: Function, names: set[str]) -> Iterator[int]:
    """Yields the lines of conditions that decide what one of these names is, or what is returned."""
    for node in function.nodes_of((ast.If,)):
        if not isinstance(node, ast.If) or not _of_data(node.test, function):
            continue
        inside = [one for statement in (*node.body, *node.orelse) for one in walk(statement)]
        changes = any(base in names for one in inside for base, _ in _made(one))
        if changes or any(isinstance(one, (ast.Return, ast.Continue)) for one in inside):
            yield node.lineno
    for node in function.nodes_of((ast.IfExp,)):
        if isinstance(node, ast.IfExp) and _of_data(node.test, function):
            yield node.lineno


def _of_data(test: ast.expr, function: Function) -> bool:
    """Whether a test looks at a local value, and neither at the rank, at settings, nor at whether there is one."""
    if rank_words.SHOWS_RANK.search(ast.unparse(test)):
        return False
    if isinstance(test, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
        return False
    names = (node for node in function.nodes_of((ast.Name,)) if isinstance(node, ast.Name))
    local = {*function.parameters[function.implied :], *(node.id for node in names if isinstance(node.ctx, ast.Store))}
    counted = {name for node in function.nodes_of((ast.For,)) if isinstance(node, ast.For) for name in _targets(node)}
    reads = {node.id for node in walk(test) if isinstance(node, ast.Name)}
    computed = any(isinstance(node, (ast.Call, ast.Subscript)) for node in walk(test))
    return bool(reads & (local - counted)) and (computed or isinstance(test, ast.Compare))


def _targets(loop: ast.For) -> Iterator[str]:
    """Yields the numbers of an enumerate: a step that decides is the same on every rank."""
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) in ("enumerate", "range"):
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
        if isinstance(target, ast.Name):
            yield target.id
