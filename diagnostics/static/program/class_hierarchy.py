"""The classes of an audited project: their bases, and what their attributes are. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.callers import Callers
from diagnostics.static.program.functions import Function, last_name


class ClassHierarchy(Callers):
    """What is known of classes."""

    def bases(self, kind: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """Returns the project's classes that a class inherits from, as its file's imports say."""
        file = self._file_of_class.get(id(kind), "")
        found = [self.class_named(last_name(base), base, file) for base in kind.bases] if file else []
        return tuple(one for one in found if one is not None and one is not kind)

    def class_named(self, name: str, value: ast.expr, file: str) -> ast.ClassDef | None:
        """Returns the class that an expression in a file names."""
        base = value
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        where, original = self.imported(base.id, file) if isinstance(base, ast.Name) else ("", name)
        wanted = original.rpartition(".")[2] if base is value and where else name
        return next((one for path, one in self.classes.get(wanted, ()) if path == (where or file)), None)

    def module_of_class(self, kind: ast.ClassDef) -> Function | None:
        """Returns the module that a class is defined in."""
        file = self._file_of_class.get(id(kind), "")
        return self.module_of(self.by_path[file]) if file else None

    @cached_property
    def _file_of_class(self) -> dict[int, str]:
        return {id(kind): file for several in self.classes.values() for file, kind in several}

    def class_attributes(self, kind: ast.ClassDef, name: str, depth: int = 3) -> list[tuple[ast.expr, Function]]:
        """Returns what `self.name` is assigned in a class or its bases, with the method that does it."""
        found = [(value, where) for value, where in self.attributes.get(name, ()) if self.class_of(where) is kind]
        module = self.module_of_class(kind)
        if module is not None:
            own = [node for node in kind.body if isinstance(node, ast.Assign)]
            found += [(node.value, module) for node in own if any(last_name(one) == name for one in node.targets)]
            found += [
                (node.value, module)
                for node in kind.body
                if isinstance(node, ast.AnnAssign) and node.value is not None and last_name(node.target) == name
            ]
        if not found and depth:
            for parent in self.bases(kind):
                found += self.class_attributes(parent, name, depth - 1)
        return found

    def attributes_of(self, kind: ast.ClassDef) -> list[tuple[ast.expr, Function]]:
        """Returns everything that a class's methods assign to attributes of `self`."""
        methods = (one for one in (self.by_syntax.get(id(node)) for node in kind.body) if one is not None)
        return [
            (node.value, one)
            for one in methods
            for node in one.nodes_of(ast.Assign)
            if isinstance(node, ast.Assign) and any(True for _ in _attributes_of_self(node))
        ]

    def attribute_key(self, value: ast.Attribute, function: Function) -> str:
        """Returns the class that assigns the attribute, and its name; "" where it is not known whose it is."""
        known = self._keys.get(id(value))
        if known is None:
            self._keys[id(value)] = ""  # while it is being looked at
            known = self._keys[id(value)] = self._attribute_key(value, function)
        return known

    @cached_property
    def _keys(self) -> dict[int, str]:
        return {}

    def _attribute_key(self, value: ast.Attribute, function: Function) -> str:
        base = value.value
        if isinstance(base, ast.Name) and base.id in ("self", "cls"):
            kind = self.class_of(function)
        else:
            kind = next(self.kinds(base, function), None)
        if kind is None:
            # An object of unknown class: its attribute is the one of this name where only one class has one.
            holders = self._own_attributes.get(value.attr, ())
            tops = {id(self._holder(one, value.attr)) for one in holders}
            kind = next(iter(holders)) if len(tops) == 1 else None
        return f"{id(self._holder(kind, value.attr))}.{value.attr}" if kind is not None else ""

    @cached_property
    def _own_attributes(self) -> dict[str, list[ast.ClassDef]]:
        """The classes whose methods assign `self.name`, or that assign it themselves; not who sets another's."""
        found: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for function in self.functions:
            kind = self.class_of(function)
            for node in function.nodes_of((ast.Assign, ast.AnnAssign)) if kind is not None else ():
                for name in _attributes_of_self(node):
                    if kind is not None and kind not in found[name]:
                        found[name].append(kind)
        for several in self.classes.values():
            for _, kind in several:
                for name in _set_in_body(kind):
                    if kind not in found[name]:
                        found[name].append(kind)
        return found

    @cached_property
    def set_by_others(self) -> frozenset[str]:
        """Attributes that something else than their own object assigns: `trainer.should_stop = True`; or that count."""
        found = set()
        for function in self.functions:
            for node in function.nodes_of((ast.AugAssign, ast.Attribute)):
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
                    found.add(node.target.attr)
                elif (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Store)
                    and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
                ):
                    found.add(node.attr)
        return frozenset(found)

    def counted_in(self, scope: Function) -> frozenset[str]:
        """Names of a scope whose one assignment is not all: counted up there, or set by functions that say `global`."""
        return self._counted.get(id(scope), frozenset())

    @cached_property
    def _counted(self) -> dict[int, frozenset[str]]:
        found: dict[int, set[str]] = defaultdict(set)
        for function in self.functions:
            declared: set[str] = set()
            counted: set[str] = set()
            for node in function.nodes_of((ast.Global, ast.Nonlocal, ast.AugAssign)):
                if isinstance(node, (ast.Global, ast.Nonlocal)):
                    declared.update(node.names)
                elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    counted.add(node.target.id)
            found[id(function)] |= counted - declared
            for name in declared & (counted | set(function.assigned)):
                scope = function.outer
                while scope is not None and name not in scope.assigned:
                    scope = scope.outer
                if scope is not None:
                    found[id(scope)].add(name)
        return {key: frozenset(names) for key, names in found.items()}

    def _holder(self, kind: ast.ClassDef, name: str, depth: int = 3) -> ast.ClassDef:
        """Returns the topmost class of its bases that assigns `self.name`, else the class itself."""
        for parent in self.bases(kind) if depth else ():
            if self.class_attributes(parent, name):
                return self._holder(parent, name, depth - 1)
        return kind


def _attributes_of_self(node: ast.AST) -> Iterator[str]:
    """Yields the names of the attributes that a statement assigns to `self`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                yield one.attr


def _set_in_body(kind: ast.ClassDef) -> Iterator[str]:
    """Yields the names that a class's own body assigns."""
    for node in kind.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        yield from (one.id for one in targets if isinstance(one, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
