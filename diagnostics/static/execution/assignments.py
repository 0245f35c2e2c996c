"""Sets names, attributes and items. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.static.execution.expressions import Expressions
from diagnostics.static.execution.values import (
    ANY_KEY,
    Class,
    Const,
    ImportedFile,
    Instance,
    Items,
    Made,
    Mapped,
    Name,
    OneOf,
    Procedure,
    Scope,
    Value,
)  # fmt: skip


class Assignments(Expressions):
    """Writes to the memory of a run."""

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Sets what a target names."""
        if isinstance(target, ast.Name):
            store = self._scope_of(target.id, scope).fields
            self.state.memory.write(store, target.id, value)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.evaluate(target.value, scope), target.attr, value, target, scope)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, target, scope)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, scope)
        elif isinstance(target, ast.Subscript):
            owner, index = self.evaluate(target.value, scope), self.evaluate(target.slice, scope)
            if isinstance(owner, Mapped) and isinstance(index, Const) and isinstance(index.value, (str, int)):
                self.state.memory.write(owner.fields, index.value, value)
            else:
                if isinstance(owner, Mapped):
                    owner.open = True
                    self.state.memory.write(owner.fields, ANY_KEY, value)
                self.state.happened("set []", target, scope.function, owner=owner, args=(index, value))

    def _scope_of(self, name: str, scope: Scope) -> Scope:
        """Returns the scope whose name is set: another one where `global` or `nonlocal` says so."""
        outer = scope.outer
        for node in scope.function.nodes_of((ast.Global, ast.Nonlocal)):
            if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names and outer is not None:
                at = outer
                while at.outer is not None and (isinstance(node, ast.Global) or name not in at.fields):
                    at = at.outer
                return at
        return scope

    def _unpack(self, targets: Sequence[ast.expr], value: Value, node: ast.AST, scope: Scope) -> None:
        items = value.items if isinstance(value, Items) and not value.open else None
        if items is not None and len(items) >= len(targets) - 1:
            at = next((at for at, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
            if at is not None:
                end = len(items) - (len(targets) - at - 1)
                items = (*items[:at], Items({"items": items[at:end]}), *items[end:])
        if items is not None and len(items) == len(targets):
            for target, one in zip(targets, items, strict=True):
                self.assign(target, one, scope)
            return
        for at, target in enumerate(targets):
            self.assign(target, self.item(value, Const(at), target, scope), scope)

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, scope: Scope) -> None:
        """Sets an attribute of a value."""
        for one in owner.options if isinstance(owner, OneOf) else (owner,):
            if isinstance(one, Instance) and (setter := self.setter(one, name)) is not None:
                self.call(setter, (value,), {}, node, scope)
            elif isinstance(one, (Instance, Class, Procedure)) or (isinstance(one, Mapped) and one.kind):
                self.state.memory.write(one.fields, name, value)
            elif isinstance(one, ImportedFile):
                self.state.memory.write(self.run_file(one.file).fields, name, value)
            elif isinstance(one, (Made, Name)):
                if isinstance(one, Made):
                    self.state.memory.write(one.fields, name, value)
                self.state.happened(f"set {name}", node, scope.function, owner=one, args=(value,))
