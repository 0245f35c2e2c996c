"""Attributes that constructors set and nothing changes: a loop over one runs equally often each time. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.call_graph import CallGraph

_PASSES_ON = ("enumerate", "list", "tuple", "sorted", "reversed", "zip")
_VIEWS = ("items", "keys", "values")
_CONSTRUCTORS = ("__init__", "__post_init__", "__new__")
_CHANGES = frozenset(
    ["append", "extend", "insert", "add", "update", "remove", "discard", "pop", "popitem", "clear", "setdefault",
     "appendleft", "popleft", "register"]
)  # fmt: skip


class FixedAttributes:
    """Which attributes of a program's own objects keep what a constructor gave them, by their names."""

    def __init__(self, program: CallGraph) -> None:
        self._set: set[str] = set()
        self._changed: set[str] = set()
        for function in program.functions:
            built = function.name.rpartition(".")[2] in _CONSTRUCTORS
            for node in function.own_nodes:
                self._see(node, built)

    def holds(self, value: ast.expr) -> bool:
        """Whether `value` is such an attribute, or only passes its items on."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _PASSES_ON:
            return bool(value.args) and all(self.holds(one) for one in value.args)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _VIEWS:
            return self.holds(value.func.value)
        return isinstance(value, ast.Attribute) and value.attr in self._set - self._changed

    def _see(self, node: ast.AST, built: bool) -> None:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            (self._set if built and isinstance(node.ctx, ast.Store) else self._changed).add(node.attr)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            self._changed.add(node.target.attr)
        else:
            changed = _changed_by(node)
            if isinstance(changed, ast.Attribute):
                self._changed.add(changed.attr)


def _changed_by(node: ast.AST) -> ast.AST | None:
    """Returns what an item assignment or a changing method is applied to."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
        return node.func.value
    return None
