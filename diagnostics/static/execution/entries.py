"""Functions and classes that no script of the project comes to: somebody else calls them, with what nobody knows. Pure.

A trainer that is a library's, a `main(data, config)` that a notebook or another repository starts. A function nobody
in the project calls is run by itself; of a class an object is made, and each method that none of its others calls is
run on a new one: in what order they are called is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.execution.statements import Interpreter
from diagnostics.static.execution.values import Class, Const, Instance, Made, Procedure, Scope, Value
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project_file import ProjectFile

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OFFERED = ("__call__", "__enter__")  # of the methods that Python calls by itself


@dataclass(frozen=True, slots=True)
class UncalledCode:
    """A function of a file, or a class of it and the methods to begin with; "" is the function alone.

    Of a function that makes an object of a class, `make_trainer(model)`: the methods to go on with on that object.
    """

    file: str
    syntax: ast.stmt
    methods: tuple[str, ...] = ("",)


def entries(files: Sequence[ProjectFile]) -> Iterator[UncalledCode]:
    """Yields them, those last that a file names."""
    named, classes = _named(files), _classes(files)
    later: list[UncalledCode] = []
    for file in files:
        for one in file.tree.body if file.tree is not None else ():
            if isinstance(one, FUNCTIONS):
                entry = UncalledCode(file.shown, one, ("", *_made_by(one, classes)))
                if one.name in named:
                    later.append(entry)
                else:
                    yield entry
            elif isinstance(one, ast.ClassDef):
                yield UncalledCode(file.shown, one, _offered(one))
    yield from later


def run_entry(entry: UncalledCode, method: str, interpreter: Interpreter) -> None:
    """Runs one, with arguments of which nothing is known."""
    scope = interpreter.run_file(entry.file)
    found = scope.fields.get(getattr(entry.syntax, "name", ""))
    if isinstance(found, Class):
        made = _called(found, entry.syntax, interpreter, scope)
        found = None
        if isinstance(made, Instance) and not interpreter.is_model(made):
            found = interpreter.of_object(made, method, entry.syntax, scope)
    if not isinstance(found, Procedure):
        return
    made = _called(found, entry.syntax, interpreter, scope)
    if method and isinstance(entry.syntax, FUNCTIONS) and isinstance(made, Instance):
        begun = interpreter.of_object(made, method, entry.syntax, scope)
        if isinstance(begun, Procedure):
            _called(begun, entry.syntax, interpreter, scope)


def _called(callee: Class | Procedure, node: ast.stmt, interpreter: Interpreter, scope: Scope) -> Value:
    function = callee if isinstance(callee, Procedure) else callee.fields.get("__init__")
    keywords: dict[str, Value] = {}
    if isinstance(function, Procedure):
        # What a caller leaves out is as little known as what it gives.
        plain = (name for name, default in function.defaults.items() if isinstance(default, Const))
        keywords = {name: Made("argument", args=(Const(name),), node=node) for name in plain}
    return interpreter.call(callee, (), keywords, node, scope)


def _named(files: Sequence[ProjectFile]) -> frozenset[str]:
    """Returns the names that are called, or handed on, anywhere."""
    found: set[str] = set()
    for file in files:
        for node in walk(file.tree) if file.tree is not None else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
    return frozenset(found)


def _classes(files: Sequence[ProjectFile]) -> dict[str, ast.ClassDef]:
    """Returns the classes of all files by name, but for those of which there are two."""
    found: dict[str, list[ast.ClassDef]] = {}
    for file in files:
        for one in file.tree.body if file.tree is not None else ():
            if isinstance(one, ast.ClassDef):
                found.setdefault(one.name, []).append(one)
    return {name: kinds[0] for name, kinds in found.items() if len(kinds) == 1}


def _made_by(function: ast.FunctionDef | ast.AsyncFunctionDef, classes: dict[str, ast.ClassDef]) -> tuple[str, ...]:
    """Returns the methods of the class of which a function returns an object."""
    for node in walk(function):
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Call) and (kind := classes.get(last_name(value.func))) is not None:
            return () if any(last_name(base) == "Module" for base in kind.bases) else _offered(kind)
    return ()


def _offered(kind: ast.ClassDef) -> tuple[str, ...]:
    """Returns the methods of a class that no other method of it calls."""
    methods = [one for one in kind.body if isinstance(one, FUNCTIONS)]
    called = {
        node.attr
        for one in methods
        for node in walk(one)
        if isinstance(node, ast.Attribute) and last_name(node.value) in ("self", "cls")
    }
    return tuple(
        one.name
        for one in methods
        if one.name not in called and (not one.name.startswith("__") or one.name in _OFFERED)
    )
