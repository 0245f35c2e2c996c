"""Methods that run without being called: `__str__` in an f-string, properties in the arguments of a log line. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import ObjectKinds

# What makes a text of its arguments.
WRITES = frozenset(
    ["print", "str", "repr", "format", "info", "debug", "warning", "error", "log", "write", "set_postfix", "join",
     "set_description", "log_metrics", "add_scalar"]
)  # fmt: skip
_TEXT = ("__str__", "__format__", "__repr__")
_PROPERTIES = {"property", "cached_property"}


class ImplicitCalls(ObjectKinds):
    """What is known of methods that run unnamed."""

    @cached_property
    def runs_unnamed(self) -> frozenset[str]:
        """Names of the project's methods that run without being called: `__str__`, properties."""
        return unnamed(self.functions)

    def getters(self, value: ast.Attribute, function: Function) -> list[Function]:
        """Returns the properties of the project that an attribute may be."""
        if value.attr not in self.runs_unnamed:
            return []
        kinds = self.kinds(value.value, function)
        found = (one for kind in kinds for one in self._methods(kind, (value.attr,), below=True))
        return [one for one in found if is_property(one)]


def implicit_targets(call: ast.Call, function: Function, project: ImplicitCalls) -> Iterator[Function]:
    """Yields the project's methods that run while the arguments of a call that writes are made into text."""
    if last_name(call.func) not in WRITES or not project.runs_unnamed:
        return
    for argument in (*call.args, *(one.value for one in call.keywords)):
        for value, as_text in _written(argument):
            yield from _run_by(value, as_text, function, project)


def _written(argument: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """Yields the values in an argument, and whether each itself becomes text."""
    if isinstance(argument, (ast.Name, ast.Attribute)):
        yield argument, True
    for node in walk(argument):
        if isinstance(node, ast.FormattedValue):
            yield node.value, True
        elif isinstance(node, ast.Attribute) and node is not argument:
            yield node, False


def _run_by(value: ast.expr, as_text: bool, function: Function, project: ImplicitCalls) -> Iterator[Function]:
    if isinstance(value, ast.Attribute) and value.attr in project.runs_unnamed:
        for kind in project.kinds(value.value, function):
            found = project.method(kind, value.attr)
            if found is not None and is_property(found):
                yield found
    if as_text and not project.runs_unnamed.isdisjoint(_TEXT):
        for kind in project.kinds(value, function):
            methods = (project.method(kind, name) for name in _TEXT)
            for method in [one for one in methods if one is not None][:1]:
                yield method
                yield from _properties_of(kind, method, project)


def _properties_of(kind: ast.ClassDef, method: Function, project: ImplicitCalls) -> Iterator[Function]:
    """Yields the properties of its own object that a method reads."""
    for node in method.nodes_of(ast.Attribute):
        if isinstance(node, ast.Attribute) and last_name(node.value) == "self" and node.attr in project.runs_unnamed:
            found = project.method(kind, node.attr)
            if found is not None and is_property(found):
                yield found


def is_property(function: Function) -> bool:
    """Whether a method runs where it is read."""
    return any(last_name(one) in _PROPERTIES for one in getattr(function.syntax, "decorator_list", ()))


def unnamed(functions: tuple[Function, ...]) -> frozenset[str]:
    """Returns the names of the methods that run without being called."""
    methods = ((one.name.rpartition(".")[2], one) for one in functions if one.owner is not None)
    return frozenset(name for name, one in methods if name in _TEXT or is_property(one))
