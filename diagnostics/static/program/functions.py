"""The project's own files: their functions, classes, attributes and imports. Pure and bounded."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from diagnostics.core.frame import Frame
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.cfg import ControlFlowGraph, FunctionSyntax
from diagnostics.static.program.cfg_builder import build, suppresses_by_name
from diagnostics.static.program.distributed_names import is_distributed_call, names_of_distributed
from diagnostics.static.program.foreign_names import ForeignNames
from diagnostics.static.program.own_nodes import Callable_, Kinds, OwnNodes
from diagnostics.static.program.source_file import SourceFile, SourceStore, imported_files

MOST_FILES = 60
_NAMING = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem)


@dataclass(eq=False)
class Function:
    """One function, lambda or module of the project."""

    file: str  # as Python named it
    source: SourceFile
    syntax: FunctionSyntax
    name: str
    owner: ast.ClassDef | None  # the class it is a method of
    outer: Function | None
    program: SourceSet

    @cached_property
    def graph(self) -> ControlFlowGraph:
        """Its control-flow graph."""
        return build(self.syntax, lambda context: self.program.suppresses(context, self))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters in order."""
        if isinstance(self.syntax, ast.Module):
            return ()
        arguments = self.syntax.args
        return tuple(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))

    @cached_property
    def implied(self) -> int:
        """How many of its first parameters a call of a method does not name: self or cls, of a staticmethod none."""
        decorators = getattr(self.syntax, "decorator_list", ())
        return int(self.owner is not None and all(last_name(one) != "staticmethod" for one in decorators))

    @cached_property
    def is_generator(self) -> bool:
        """Whether calling it only makes a generator."""
        return bool(self.nodes_of((ast.Yield, ast.YieldFrom)))

    @cached_property
    def own_nodes(self) -> tuple[ast.AST, ...]:
        """Its syntax nodes without those of functions inside."""
        return self.nodes.all

    @cached_property
    def nodes(self) -> OwnNodes:
        """Its syntax nodes by their kinds."""
        return OwnNodes(self.syntax)

    def nodes_of(self, kinds: Kinds) -> tuple[ast.AST, ...]:
        """Returns its syntax nodes of some kinds, in order."""
        return self.nodes.of(kinds)

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """What each local name is assigned, also by `for x in [f, g]` and `with f() as x`."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        for node in self.nodes_of(_NAMING):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name, value in paired(target, node.value):
                        if isinstance(name, ast.Name):
                            found[name.id].append(value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
                if node.value is not None:
                    found[node.target.id].append(node.value)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)) and isinstance(node.target, ast.Name):
                items = node.iter.elts if isinstance(node.iter, (ast.List, ast.Tuple)) else []
                found[node.target.id] += items
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                found[node.optional_vars.id].append(node.context_expr)
        return found

    def frame(self, line: int) -> Frame:
        """Returns a line of it as a frame."""
        return Frame(file=self.file, line=line, function=self.name)


@dataclass(eq=False)
class SourceSet:
    """The project's files, as far as they can be reached from `first` by imports."""

    sources: SourceStore
    first: tuple[str, ...]
    cwd: str = ""
    _distributed: dict[str, frozenset[str]] = field(default_factory=dict)
    _imports: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """File by the name Python gave it; imported ones by the name that the import means."""
        found: dict[str, SourceFile] = {}
        known: set[str] = set()
        waiting = list(dict.fromkeys(self.first))
        while waiting and len(found) < MOST_FILES:
            name = waiting.pop(0)
            file = self.sources.file(name)
            path = os.path.normpath(file.path)
            if path not in known and file.tree is not None:
                known.add(path)
                found[name] = file
                waiting += imported_files(name, file)
        return found

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function, module first, outer before inner."""
        return tuple(one for name, file in self.files.items() for one in self._functions(name, file))

    def _functions(self, name: str, file: SourceFile) -> Iterator[Function]:
        assert file.tree is not None  # noqa: S101 (files holds none without)
        module = Function(name, file, file.tree, "<module>", None, None, self)
        yield module
        waiting: list[tuple[ast.AST, Function, ast.ClassDef | None, str]] = [(file.tree, module, None, "")]
        while waiting:
            node, outer, owner, prefix = waiting.pop()
            for child in children(node):
                if isinstance(child, Callable_):
                    called = getattr(child, "name", "<lambda>")
                    function = Function(name, file, child, prefix + called, owner, outer, self)
                    yield function
                    waiting.append((child, function, None, f"{prefix}{called}.<locals>."))
                elif isinstance(child, ast.ClassDef):
                    waiting.append((child, outer, child, f"{prefix}{child.name}."))
                else:
                    waiting.append((child, outer, owner if isinstance(node, ast.ClassDef) else None, prefix))

    @cached_property
    def by_syntax(self) -> dict[int, Function]:
        """Function by the identity of its syntax."""
        return {id(one.syntax): one for one in self.functions}

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        """Functions by the last part of their names."""
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            found[one.name.rpartition(".")[2]].append(one)
        return found

    @cached_property
    def classes(self) -> dict[str, list[tuple[str, ast.ClassDef]]]:
        """(file, class) by the class's name."""
        found: dict[str, list[tuple[str, ast.ClassDef]]] = defaultdict(list)
        for name, file in self.files.items():
            for node in file.all_statements:
                if isinstance(node, ast.ClassDef):
                    found[node.name].append((name, node))
        return found

    @cached_property
    def attributes(self) -> dict[str, list[tuple[ast.expr, Function]]]:
        """What attributes of this name are assigned anywhere: `self.x = ...`."""
        found: dict[str, list[tuple[ast.expr, Function]]] = defaultdict(list)
        for function in self.functions:
            for node in function.nodes_of(ast.Assign):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        for name, value in paired(target, node.value):
                            if isinstance(name, ast.Attribute):
                                found[name.attr].append((value, function))
        return found

    def attribute_key(self, value: ast.Attribute, function: Function) -> str:
        """Returns what stands for the attributes that `value` may be: here its name, whosever it is."""
        return value.attr

    def given_fields(self, call: ast.Call, function: Function) -> Iterable[tuple[str, ast.expr]]:
        """Returns what a call gives to the fields of a data class, by the key of each; here none is known."""
        return ()

    def agrees(self, call: ast.Call, function: Function) -> bool:
        """Whether what a call returns is the same on every rank; here only names are known, which tell it elsewhere."""
        return False

    def getters(self, value: ast.Attribute, function: Function) -> list[Function]:
        """Returns the properties that an attribute may be; here none is known."""
        return []

    def attribute_values(self, value: ast.Attribute, function: Function) -> list[tuple[ast.expr, Function]]:
        """Returns what the attribute is assigned anywhere, with the function that does it."""
        return self.attributes.get(value.attr, [])

    @cached_property
    def calls_by_name(self) -> dict[str, list[tuple[ast.Call, Function]]]:
        """All calls by the last part of what is called."""
        found: dict[str, list[tuple[ast.Call, Function]]] = defaultdict(list)
        for function in self.functions:
            for node in function.nodes_of(ast.Call):
                if isinstance(node, ast.Call):
                    found[last_name(node.func)].append((node, function))
        return found

    def communicates(self, call: ast.AST | None, function: Function) -> bool:
        """Whether a call in `function` is an operation of the group."""
        if function.file not in self._distributed:
            tree = function.source.tree
            self._distributed[function.file] = names_of_distributed(tree) if tree is not None else frozenset()
        return is_distributed_call(call, self._distributed[function.file])

    def file_of(self, name: str) -> str:
        """Returns the key of `files` that means this file, "" where it is none of the project's."""
        if name in self.files:
            return name
        return self._paths.get(os.path.normpath(self.sources.file(name).path), "")

    @cached_property
    def _paths(self) -> dict[str, str]:
        return {os.path.normpath(file.path): name for name, file in self.files.items()}

    def function_of(self, frame: Frame) -> Function | None:
        """Returns the function a frame runs; that around it where it is a comprehension or a class body."""
        if not (file := self.file_of(frame.file)):
            return None
        name = frame.function.rpartition(".")[2]
        here = [one for one in self._by_file.get(file, ()) if one.name == "<module>" or _spans(one.syntax, frame.line)]
        named = [one for one in here if one.name.rpartition(".")[2] == name]
        return (named or here)[-1] if here else None

    @cached_property
    def _by_file(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            found[one.file].append(one)
        for several in found.values():
            several.sort(
                key=lambda one: (getattr(one.syntax, "lineno", 0), -(getattr(one.syntax, "end_lineno", 0) or 0))
            )
        return found

    def class_of(self, function: Function) -> ast.ClassDef | None:
        """Returns the class whose `self` a function sees."""
        scope: Function | None = function
        while scope is not None and scope.owner is None:
            scope = scope.outer
        return scope.owner if scope is not None else None

    def imported(self, name: str, file: str) -> tuple[str, str]:
        """Returns (file, name there) of a name that `file` imports, ("", name) where it is not the project's."""
        return self._imports_of(file).get(name, ("", name))

    @cached_property
    def foreign(self) -> ForeignNames:
        """Which names the files import from elsewhere."""
        return ForeignNames(self.files)

    def _imports_of(self, file: str) -> dict[str, tuple[str, str]]:
        if file not in self._imports:
            self._imports[file] = dict(self._read_imports(file))
        return self._imports[file]

    def _read_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for node in self.files[file].all_statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found = self._module(file, alias.name)
                    if found:
                        yield alias.asname or alias.name.partition(".")[0], (found, alias.name)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    inside = self._module(file, f"{node.module or ''}.{alias.name}".strip("."))
                    found = inside or self._module(file, node.module or "__init__")
                    if found:
                        yield alias.asname or alias.name, (found, alias.name)

    def _module(self, file: str, module: str) -> str:
        """Returns the file of the project that an import of `module` in `file` means, "" for none."""
        tail = module.replace(".", os.sep)
        for ending in (f"{tail}.py", os.path.join(tail, "__init__.py")):  # noqa: PTH118 (a name)
            fit = [name for name in self.files if name == ending or name.endswith(os.sep + ending)]
            if fit:
                folder = os.path.dirname(file)  # noqa: PTH120 (a name)
                return max(fit, key=lambda name: _shared_parts(name, folder))
        return ""

    def suppresses(self, context: ast.expr, function: Function) -> bool:
        """Whether a `with` on this expression may swallow exceptions."""
        return suppresses_by_name(context)


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields each name of a target with its own value in `a, b = f(), g()`, else with the whole."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    fits = len(parts) == len(target.elts) and not any(isinstance(one, ast.Starred) for one in (*parts, *target.elts))
    for at, name in enumerate(target.elts):
        yield name, parts[at] if fits else value


def last_name(value: ast.expr) -> str:
    """Returns the last part of what is named or called: `save` of `a.save(x)`."""
    if isinstance(value, ast.Call):
        return last_name(value.func)
    if isinstance(value, ast.Attribute):
        return value.attr
    return value.id if isinstance(value, ast.Name) else ""


def _shared_parts(name: str, folder: str) -> int:
    """Returns how many leading folders two paths have in common."""
    pairs = zip(Path(name).parts, Path(folder).parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _spans(node: ast.AST, line: int) -> bool:
    decorators = getattr(node, "decorator_list", ())
    first: int = min([getattr(node, "lineno", 0), *(one.lineno for one in decorators)])
    return first <= line <= int(getattr(node, "end_lineno", None) or 0)


def is_generator(function: Function) -> bool:
    """Whether calling the function only makes a generator."""
    return function.is_generator


def default_of(function: Function, name: str) -> ast.expr | None:
    """Returns the default of a parameter."""
    if isinstance(function.syntax, ast.Module):
        return None
    arguments = function.syntax.args
    plain = [*arguments.posonlyargs, *arguments.args]
    named = [*plain[len(plain) - len(arguments.defaults) :], *arguments.kwonlyargs]
    values = [*arguments.defaults, *arguments.kw_defaults]
    return next((value for one, value in zip(named, values, strict=True) if one.arg == name), None)
