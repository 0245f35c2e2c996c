"""Which functions of the project's own files a call may mean. Pure; conservative: where several fit, several are told."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from diagnostics.analysis.agent_facts import Frame
from diagnostics.analysis.flow_building import build, suppresses_by_name
from diagnostics.analysis.flow_graph import FlowGraph, FunctionSyntax
from diagnostics.analysis.source_files import SourceFile, Sources
from diagnostics.analysis.user_files import imported_files

MOST_FILES = 60
MOST_TARGETS = 4
_ROUNDS = 3  # an alias of an alias of a name
Callable_ = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Methods of torch and of containers: a project's method of this name is no sign that it is meant.
_COMMON = frozenset(
    [
        "append",
        "extend",
        "pop",
        "get",
        "items",
        "keys",
        "values",
        "update",
        "add",
        "remove",
        "copy",
        "step",
        "backward",
        "zero_grad",
        "to",
        "cuda",
        "cpu",
        "train",
        "eval",
        "item",
        "detach",
        "mean",
        "sum",
        "size",
        "float",
        "half",
        "load_state_dict",
        "state_dict",
        "parameters",
        "join",
        "start",
        "run",
        "close",
        "write",
        "read",
        "put",
        "wait",
        "forward",
        "format",
        "split",
        "strip",
        "sort",
        "index",
        "count",
        "insert",
        "numpy",
        "clone",
        "view",
        "reshape",
        "log",
        "info",
        "debug",
        "warning",
        "error",
    ]
)


@dataclass(eq=False)
class Function:
    """One function, lambda or module of the project."""

    file: str  # as Python named it
    source: SourceFile
    syntax: FunctionSyntax
    name: str
    owner: ast.ClassDef | None  # the class it is a method of
    outer: Function | None
    program: Program

    @cached_property
    def graph(self) -> FlowGraph:
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
    def own_nodes(self) -> tuple[ast.AST, ...]:
        """Its syntax nodes without those of functions inside."""
        return tuple(_own(self.syntax))

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """What each local name is assigned, also by `for x in [f, g]` and `with f() as x`."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        for node in self.own_nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found[target.id].append(node.value)
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
class Program:
    """The project's files, as far as they can be reached from `first` by imports."""

    sources: Sources
    first: tuple[str, ...]
    cwd: str = ""
    _graphs_of_contexts: dict[int, bool] = field(default_factory=dict)

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
            for child in ast.iter_child_nodes(node):
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
    def _by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            found[one.name.rpartition(".")[2]].append(one)
        return found

    @cached_property
    def classes(self) -> dict[str, list[tuple[str, ast.ClassDef]]]:
        """(file, class) by the class's name."""
        found: dict[str, list[tuple[str, ast.ClassDef]]] = defaultdict(list)
        for name, file in self.files.items():
            for node in ast.walk(file.tree) if file.tree is not None else ():
                if isinstance(node, ast.ClassDef):
                    found[node.name].append((name, node))
        return found

    @cached_property
    def attributes(self) -> dict[str, list[tuple[ast.expr, Function]]]:
        """What attributes of this name are assigned anywhere: `self.x = ...`."""
        found: dict[str, list[tuple[ast.expr, Function]]] = defaultdict(list)
        for function in self.functions:
            for node in function.own_nodes:
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        if isinstance(target, ast.Attribute):
                            found[target.attr].append((node.value, function))
        return found

    @cached_property
    def calls_by_name(self) -> dict[str, list[tuple[ast.Call, Function]]]:
        """All calls by the last part of what is called."""
        found: dict[str, list[tuple[ast.Call, Function]]] = defaultdict(list)
        for function in self.functions:
            for node in function.own_nodes:
                if isinstance(node, ast.Call):
                    found[last_name(node.func)].append((node, function))
        return found

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
        file = self.file_of(frame.file)
        if not file:
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

    # Resolution

    def targets(self, call: ast.Call, function: Function) -> tuple[Function, ...]:
        """Returns the project's functions that `call` in `function` may run."""
        found = dict.fromkeys(self.meant(call.func, function))
        return tuple(found)[:MOST_TARGETS]

    def read_by(self, iterable: ast.expr, function: Function) -> Iterator[Function]:
        """Yields the generators and iterators of the project that a loop over `iterable` may run."""
        if isinstance(iterable, ast.Call) and last_name(iterable.func) in (
            "enumerate",
            "tqdm",
            "zip",
            "iter",
            "islice",
        ):
            for argument in iterable.args[:2]:
                yield from self.read_by(argument, function)
            return
        if isinstance(iterable, ast.Call):
            yield from self.targets(iterable, function)
        elif isinstance(iterable, ast.Name):
            for value in function.assigned.get(iterable.id, ()):
                if isinstance(value, ast.Call):
                    yield from self.targets(value, function)
        for kind in self.kinds(iterable, function):
            found = self.method(kind, "__iter__")
            if found is not None:
                yield found

    def meant(self, value: ast.expr, function: Function, rounds: int = _ROUNDS) -> Iterator[Function]:
        """Yields the functions a value may be when it is called."""
        if rounds < 0:
            return
        if isinstance(value, ast.Lambda) and id(value) in self.by_syntax:
            yield self.by_syntax[id(value)]
        elif isinstance(value, ast.Name):
            yield from self._named(value.id, function, rounds)
        elif isinstance(value, ast.Attribute):
            yield from self._attribute(value, function, rounds)
        elif isinstance(value, ast.Call) and last_name(value.func) == "partial" and value.args:
            yield from self.meant(value.args[0], function, rounds - 1)
        elif isinstance(value, ast.IfExp):
            yield from self.meant(value.body, function, rounds - 1)
            yield from self.meant(value.orelse, function, rounds - 1)
        elif isinstance(value, ast.Call):
            for kind in self.kinds(value, function, rounds - 1):
                yield from self._methods(kind, ("__call__", "forward"))

    def _named(self, name: str, function: Function, rounds: int) -> Iterator[Function]:
        scope: Function | None = function
        while scope is not None:
            inside = [one for one in self._by_name.get(name, ()) if one.outer is scope and one.owner is None]
            if inside:
                for one in inside:
                    yield from self._decorated(one)
                return
            if name in scope.assigned:
                for value in scope.assigned[name]:
                    yield from self.meant(value, scope, rounds - 1)
                return
            if name in scope.parameters:
                yield from self._passed(name, scope, rounds)
                return
            scope = scope.outer
        file, original = self._imported(name, function.file)
        for kind_file, kind in self.classes.get(original, ()):
            if kind_file == (file or function.file):
                yield from self._methods(kind, ("__init__",))
        if file:
            for one in self._by_name.get(original, ()):
                if one.file == file and one.owner is None:
                    yield from self._decorated(one)

    def _decorated(self, function: Function) -> Iterator[Function]:
        """Yields what a decorator of the project makes of it, else the function itself."""
        for decorator in getattr(function.syntax, "decorator_list", ()):
            value = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = last_name(value)
            made = [one for one in self.functions if name and one.outer is not None and _inside(one, name)]
            inner = [one for one in made if one.name.rpartition(".")[2] != "<lambda>" and _is_innermost(one, made)]
            if inner:
                yield from inner
                return
        yield function

    def _passed(self, name: str, function: Function, rounds: int) -> Iterator[Function]:
        """Yields the functions that callers pass for a parameter; of a decorator what it decorates."""
        called = function.name.rpartition(".")[2]
        at = function.parameters.index(name)
        for call, caller in self.calls_by_name.get(called, ())[:20]:
            shift = 1 if function.owner is not None and isinstance(call.func, ast.Attribute) else 0
            values = [one.value for one in call.keywords if one.arg == name]
            values += [call.args[at - shift]] if 0 <= at - shift < len(call.args) else []
            for value in values:
                yield from self.meant(value, caller, rounds - 1)
        if function.parameters[:1] == (name,):
            for one in self.functions:
                decorators = getattr(one.syntax, "decorator_list", ())
                if any(last_name(d) == called for d in decorators):
                    yield one

    def _attribute(self, value: ast.Attribute, function: Function, rounds: int) -> Iterator[Function]:
        name = value.attr
        base = value.value
        if isinstance(base, ast.Name) and base.id in ("self", "cls") and (kind := self.class_of(function)) is not None:
            found = list(self._methods(kind, (name,), below=True))
            yield from found
            if not found:
                for assigned, where in self.attributes.get(name, ()):
                    yield from self.meant(assigned, where, rounds - 1)
            return
        if isinstance(base, ast.Call) and last_name(base.func) == "super" and (kind := self.class_of(function)):
            for parent in kind.bases:
                for _, one in self.classes.get(last_name(parent), ()):
                    yield from self._methods(one, (name,))
            return
        if isinstance(base, ast.Name):
            file, _ = self._imported(base.id, function.file)
            if file:
                for one in self._by_name.get(name, ()):
                    if one.file == file and one.owner is None:
                        yield from self._decorated(one)
                for kind_file, made in self.classes.get(name, ()):
                    if kind_file == file:
                        yield from self._methods(made, ("__init__",))
                return
        kinds = list(self.kinds(base, function, rounds - 1))
        for one_kind in kinds:
            yield from self._methods(one_kind, (name,))
        methods = [one for one in self._by_name.get(name, ()) if one.owner is not None]
        if not kinds and name not in _COMMON and len(methods) <= MOST_TARGETS:
            for method in methods:
                yield from self._decorated(method)

    def kinds(self, value: ast.expr, function: Function, rounds: int = _ROUNDS) -> Iterator[ast.ClassDef]:
        """Yields the project's classes that a value may be an object of, through wrappers like DDP(Net())."""
        if rounds < 0:
            return
        if isinstance(value, ast.Call):
            made = [kind for _, kind in self.classes.get(last_name(value.func), ())]
            yield from made
            for argument in value.args[:1] if not made else ():
                yield from self.kinds(argument, function, rounds - 1)
        elif isinstance(value, ast.Name):
            scope: Function | None = function
            while scope is not None:
                if value.id in scope.assigned:
                    for one in scope.assigned[value.id]:
                        yield from self.kinds(one, scope, rounds - 1)
                    return
                if value.id in scope.parameters:
                    yield from self._kinds_passed(value.id, scope, rounds)
                    return
                scope = scope.outer
        elif isinstance(value, ast.Attribute):
            for assigned, where in self.attributes.get(value.attr, ())[:6]:
                yield from self.kinds(assigned, where, rounds - 1)

    def _kinds_passed(self, name: str, function: Function, rounds: int) -> Iterator[ast.ClassDef]:
        called = function.name.rpartition(".")[2]
        names = (called, function.owner.name) if called == "__init__" and function.owner is not None else (called,)
        at = function.parameters.index(name) - (1 if function.owner is not None else 0)
        for call, caller in [one for key in names for one in self.calls_by_name.get(key, ())][:8]:
            values = [one.value for one in call.keywords if one.arg == name]
            values += [call.args[at]] if 0 <= at < len(call.args) else []
            for value in values:
                yield from self.kinds(value, caller, rounds - 1)

    def class_of(self, function: Function) -> ast.ClassDef | None:
        """Returns the class whose `self` a function sees."""
        scope: Function | None = function
        while scope is not None and scope.owner is None:
            scope = scope.outer
        return scope.owner if scope is not None else None

    def _methods(
        self, kind: ast.ClassDef, names: tuple[str, ...], *, below: bool = False, depth: int = 4
    ) -> Iterator[Function]:
        """Yields the methods of a class by name, those of its bases where it has none; `below`: subclasses', too."""
        own = [node for node in kind.body if isinstance(node, Callable_) and getattr(node, "name", "") in names]
        for node in own:
            if id(node) in self.by_syntax:
                yield from self._decorated(self.by_syntax[id(node)])
        if not own and depth:
            for parent in kind.bases:
                for _, one in self.classes.get(last_name(parent), ())[:2]:
                    yield from self._methods(one, names, depth=depth - 1)
        if below:
            for several in self.classes.values():
                for _, one in several:
                    if one is not kind and any(last_name(parent) == kind.name for parent in one.bases):
                        yield from self._methods(one, names, depth=0)

    def method(self, kind: ast.ClassDef, name: str) -> Function | None:
        """Returns a method of a class or of its bases."""
        return next(self._methods(kind, (name,)), None)

    def _imported(self, name: str, file: str) -> tuple[str, str]:
        """Returns (file, name there) of a name bound by an import in `file`, ("", name) where it is not the project's."""
        return self._imports_of(file).get(name, ("", name))

    def _imports_of(self, file: str) -> dict[str, tuple[str, str]]:
        if file not in self._imports:
            self._imports[file] = dict(self._read_imports(file))
        return self._imports[file]

    _imports: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def _read_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
        tree = self.files[file].tree
        for node in ast.walk(tree) if tree is not None else ():
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
                return max(fit, key=lambda name: len(os.path.commonprefix((name, folder + os.sep))))
        return ""

    def suppresses(self, context: ast.expr, function: Function) -> bool:
        """Whether a `with` on this expression may swallow exceptions."""
        if suppresses_by_name(context):
            return True
        if id(context) not in self._graphs_of_contexts:
            self._graphs_of_contexts[id(context)] = False  # while it is being looked at
            self._graphs_of_contexts[id(context)] = self._may_swallow(context, function)
        return self._graphs_of_contexts[id(context)]

    def _may_swallow(self, context: ast.expr, function: Function) -> bool:
        if isinstance(context, ast.Call):
            for one in self.targets(context, function):
                if any(
                    isinstance(node, ast.Try)
                    and any(isinstance(inner, ast.Yield) for part in node.body for inner in ast.walk(part))
                    and any(not _reraises(handler) for handler in node.handlers)
                    for node in one.own_nodes
                ):
                    return True
        for kind in self.kinds(context, function):
            leaves = self.method(kind, "__exit__")
            returns = [node.value for node in leaves.own_nodes if isinstance(node, ast.Return)] if leaves else []
            if any(value is not None and not _is_false(value) for value in returns):
                return True
        return False


def last_name(value: ast.expr) -> str:
    """Returns the last part of what is named or called: `save` of `a.save(x)`."""
    if isinstance(value, ast.Call):
        return last_name(value.func)
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


def _own(syntax: ast.AST) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [syntax.body] if isinstance(syntax, ast.Lambda) else list(getattr(syntax, "body", ()))
    waiting.reverse()
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Callable_):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults]
        else:
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _spans(node: ast.AST, line: int) -> bool:
    decorators = getattr(node, "decorator_list", ())
    first = min([getattr(node, "lineno", 0), *(one.lineno for one in decorators)])
    return first <= line <= (getattr(node, "end_lineno", None) or 0)


def _inside(function: Function, name: str) -> bool:
    scope = function.outer
    while scope is not None:
        if scope.name.rpartition(".")[2] == name:
            return True
        scope = scope.outer
    return False


def _is_innermost(function: Function, among: Iterable[Function]) -> bool:
    return not any(one.outer is function for one in among)


def _reraises(handler: ast.ExceptHandler) -> bool:
    return bool(handler.body) and isinstance(handler.body[-1], ast.Raise)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def is_generator(function: Function) -> bool:
    """Whether calling the function only makes a generator."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in function.own_nodes)
