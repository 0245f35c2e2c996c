"""Methods that keep what they are given: `self.losses.append(loss)`, `self.total += loss`. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.torch_code.module_classes import own_attribute

_LETS_GO = ("detach", "detach_", "item", "popleft", "pop", "clear")


@dataclass(frozen=True, slots=True)
class RetainedArgument:
    """The attribute that grows by a method's argument, and where."""

    attribute: str
    node: ast.AST


def keeps_argument(method: Function) -> RetainedArgument | None:
    """Returns what a method with one argument keeps of it as it is, None where it changes or drops anything."""
    names = method.parameters
    if method.owner is None or len(names) != 2 or names[1] in method.assigned:
        return None
    kept = None
    for node in method.own_nodes:
        found = _grown(node, names[1])
        kept = kept or found
        if isinstance(node, ast.Call) and last_name(node.func) in _LETS_GO:
            return None
    return kept if kept is not None and _is_list(method, kept.attribute) else None


def renews_own(method: Function, attribute: str) -> bool:
    """Whether a method empties or replaces an attribute."""
    for node in method.own_nodes:
        if isinstance(node, ast.Assign) and any(own_attribute(one) == attribute for one in node.targets):
            return True
        method_of = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if method_of is not None and method_of.attr in _LETS_GO and own_attribute(method_of.value) == attribute:
            return True
    return False


def _grown(node: ast.AST, name: str) -> RetainedArgument | None:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is(node.value, name):
        attribute = own_attribute(node.target)
        return RetainedArgument(attribute, node) if attribute else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        attribute = own_attribute(node.func.value)
        return (
            RetainedArgument(attribute, node) if attribute and len(node.args) == 1 and _is(node.args[0], name) else None
        )
    return None


def _is(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name


def _is_list(method: Function, attribute: str) -> bool:
    """Whether the class makes it an empty list or the number 0, and nothing bounded, and replaces it nowhere else."""
    values = [
        node.value
        for node in (walk(method.owner) if method.owner is not None else ())
        if isinstance(node, ast.Assign) and any(own_attribute(one) == attribute for one in node.targets)
    ]  # fmt: skip
    return bool(values) and all(
        (isinstance(one, ast.List) and not one.elts) or (isinstance(one, ast.Constant) and one.value in (0, 0.0))
        for one in values
    )
