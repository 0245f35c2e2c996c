"""Which expression a statement or call changes in place. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.autograd.operator_tables import NOT_CHANGES


def changed_in_place(node: ast.AST) -> ast.expr | None:
    """Returns what a node changes in place, without `.data`, None where it changes nothing that way."""
    if isinstance(node, ast.AugAssign):
        return _plain(node.target)
    if isinstance(node, ast.Assign):
        return next((_plain(one) for one in node.targets if isinstance(one, ast.Subscript)), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name.endswith("_") and not name.startswith("_") and name not in NOT_CHANGES:
            return _plain(node.func.value)
    return None


def _plain(value: ast.expr) -> ast.expr | None:
    base = value
    while isinstance(base, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(base, ast.Attribute) and base.attr in ("data", "grad"):
            return None
        base = base.func if isinstance(base, ast.Call) else base.value
    return value
