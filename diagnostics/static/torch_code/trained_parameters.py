"""Where a function changes which parameters are trained, itself or by a function that it calls. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.functions import Function, default_of
from diagnostics.static.program.project import Project

Change = tuple[ast.Call | ast.Assign, ast.expr, ast.expr | None]  # where, whose requires_grad, new value


def changes(function: Function) -> list[Change]:
    """Returns (node, whose requires_grad, new value) for every change in a function."""
    found: list[Change] = []
    for node in function.own_nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            found.append((node, node.func.value, node.args[0] if node.args else ast.Constant(True)))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                    found.append((node, target.value, node.value))
    return found


@dataclass(frozen=True, eq=False)
class HelperChange:
    """A call that changes requires_grad of a model: `model.freeze_backbone(False)`, `freeze(model.backbone, True)`."""

    call: ast.Call
    caller: Function
    inside: ast.AST
    where: Function
    trains: bool  # whether the parameters are trained afterwards


def helper_changes(function: Function, names: set[str], project: Project) -> Iterator[HelperChange]:
    """Yields the calls of a function that change requires_grad of what one of these texts names, as far as is known."""
    for call in (node for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)):
        concerned = [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
        if not any(_begins_with(one, names) for one in concerned):
            continue
        for target in project.targets(call, function)[:2]:
            if target.name.endswith("__init__"):
                continue
            for node, _, value in changes(target):
                trains = _value(value, target, call)
                if trains is not None:
                    yield HelperChange(call, function, node, target, trains)
                    break


def _begins_with(value: ast.expr, names: set[str]) -> bool:
    while not isinstance(value, ast.Name) or value.id not in names:
        if ast.unparse(value) in names:
            return True
        if not isinstance(value, (ast.Attribute, ast.Subscript)):
            return False
        value = value.value
    return True


def _value(value: ast.expr | None, target: Function, call: ast.Call) -> bool | None:
    """Returns what requires_grad becomes in this call, None where that is not known."""
    match value:
        case ast.Constant(value=bool() as literal):
            return literal
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _value(operand, target, call)
            return None if inner is None else not inner
        case ast.Name(id=name) if name in target.parameters:
            at = target.parameters.index(name) - (target.implied if isinstance(call.func, ast.Attribute) else 0)
            given = next((one.value for one in call.keywords if one.arg == name), None)
            given = call.args[at] if given is None and 0 <= at < len(call.args) else given
            last = given if given is not None else default_of(target, name)
            return bool(last.value) if isinstance(last, ast.Constant) else None
    return None
