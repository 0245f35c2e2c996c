"""Which functions of the project's own files a call may mean: several where several fit. Pure; conservative."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.cfg_builder import suppresses_by_name
from diagnostics.static.program.functions import Function, SourceSet, is_generator, last_name
from diagnostics.static.program.own_nodes import Callable_

__all__ = ["CallGraph", "Function", "is_generator", "last_name"]
MOST_TARGETS = 4
_ROUNDS = 3  # an alias of an alias of a name
# Methods of torch and of containers: a project's method of this name is no sign that it is meant.
COMMON_METHODS = frozenset(
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
class CallGraph(SourceSet):
    """The project's files with what calls in them mean."""

    _swallows: dict[int, bool] = field(default_factory=dict)
    # Each answer once: what is passed from call to call would be followed again along every way that leads to it.
    _known: dict[tuple[int, int, int], tuple[ast.expr, tuple[Function, ...]]] = field(default_factory=dict)

    def targets(self, call: ast.Call, function: Function) -> tuple[Function, ...]:
        """Returns the project's functions that `call` in `function` may run."""
        return self.meant(call.func, function)[:MOST_TARGETS]

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

    def meant(self, value: ast.expr, function: Function, rounds: int = _ROUNDS) -> tuple[Function, ...]:
        """Returns the functions a value may be when it is called."""
        if rounds < 0:
            return ()
        key = (id(value), id(function), rounds)
        if key not in self._known:  # the value is kept, so that its identity stays its own
            self._known[key] = (value, tuple(dict.fromkeys(self._meant(value, function, rounds))))
        return self._known[key][1]

    def _meant(self, value: ast.expr, function: Function, rounds: int) -> Iterator[Function]:
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
            inside = [one for one in self.by_name.get(name, ()) if one.outer is scope and one.owner is None]
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
        file, original = self.imported(name, function.file)
        for kind_file, kind in self.classes.get(original, ()):
            if kind_file == (file or function.file):
                yield from self._methods(kind, ("__init__",))
        if file:
            for one in self.by_name.get(original, ()):
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
            shift = function.implied if isinstance(call.func, ast.Attribute) else 0
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
            file, _ = self.imported(base.id, function.file)
            if file:
                for named in self.by_name.get(name, ()):
                    if named.file == file and named.owner is None:
                        yield from self._decorated(named)
                for kind_file, made in self.classes.get(name, ()):
                    if kind_file == file:
                        yield from self._methods(made, ("__init__",))
                return
            if self._is_foreign(base.id, function):
                return
        kinds = list(self.kinds(base, function, rounds - 1))
        for one_kind in kinds:
            yield from self._methods(one_kind, (name,))
        methods = [one for one in self.by_name.get(name, ()) if one.owner is not None]
        if not kinds and name not in COMMON_METHODS and len(methods) <= MOST_TARGETS:
            for method in methods:
                yield from self._decorated(method)

    def _is_foreign(self, name: str, function: Function) -> bool:
        scope: Function | None = function
        while scope is not None:
            if (name in scope.assigned and scope.name != "<module>") or name in scope.parameters:
                return False
            scope = scope.outer
        return self.foreign.holds(name, function.file)

    def is_guess(self, call: ast.Call, function: Function) -> bool:
        """Whether the only sign that a call means a project's method is its name, which other objects may share."""
        func = call.func
        if not isinstance(func, ast.Attribute) or last_name(func.value) in ("self", "cls", "super"):
            return False
        if isinstance(func.value, ast.Name) and self.imported(func.value.id, function.file)[0]:
            return False
        return next(self.kinds(func.value, function), None) is None

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
        for value, caller in self.arguments(name, function):
            yield from self.kinds(value, caller, rounds - 1)

    def arguments(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Function]]:
        """Yields what callers pass for a parameter, with the function that calls."""
        called = function.name.rpartition(".")[2]
        names = (called, function.owner.name) if called == "__init__" and function.owner is not None else (called,)
        at = function.parameters.index(name) - function.implied
        for call, caller in [one for key in names for one in self.calls_by_name.get(key, ())][:8]:
            yield from ((one.value, caller) for one in call.keywords if one.arg == name)
            if 0 <= at < len(call.args):
                yield call.args[at], caller

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

    def suppresses(self, context: ast.expr, function: Function) -> bool:
        """Whether a `with` on this expression may swallow exceptions."""
        if suppresses_by_name(context):
            return True
        if id(context) not in self._swallows:
            self._swallows[id(context)] = False  # while it is being looked at
            self._swallows[id(context)] = self._may_swallow(context, function)
        return self._swallows[id(context)]

    def _may_swallow(self, context: ast.expr, function: Function) -> bool:
        if isinstance(context, ast.Call):
            for one in self.targets(context, function):
                if any(
                    isinstance(node, ast.Try)
                    and any(isinstance(inner, ast.Yield) for part in node.body for inner in walk(part))
                    and any(not _reraises(handler) for handler in node.handlers)
                    for node in one.own_nodes
                ):
                    return True
        for kind in self.kinds(context, function):
            leaves = self.method(kind, "__exit__")
            returns = (
                [node.value for node in leaves.nodes_of(ast.Return) if isinstance(node, ast.Return)] if leaves else []
            )
            if any(value is not None and not _is_false(value) for value in returns):
                return True
        return False


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
