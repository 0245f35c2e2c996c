"""A project that is audited: which functions its calls run. Pure.

On the functions, graphs and call targets that the watched run uses; here all files are known, so that imports are
resolved exactly, and nothing is guessed from a method's name alone.

Keeps what was worked out about a whole project for as long as the project lives.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from diagnostics.static.program.call_graph import COMMON_METHODS, MOST_TARGETS
from diagnostics.static.program.foreign_names import ForeignNames
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.implicit_calls import ImplicitCalls, implicit_targets
from diagnostics.static.program.own_nodes import Callable_

Answer = TypeVar("Answer")

FEW_TO_GUESS = 25  # in so few files, a method of a name that few classes have is taken for the one meant


class Project(ImplicitCalls):
    """All audited files. `files` are those with Python that may take part in distributed training."""

    @cached_property
    def _made_in(self) -> dict[str, list[Function]]:
        """Functions defined inside functions of this name: what a decorator gives back."""
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            scope = one.outer
            while scope is not None:
                found[scope.name.rpartition(".")[2]].append(one)
                scope = scope.outer
        return found

    @cached_property
    def decorated_with(self) -> dict[str, list[Function]]:
        """Functions by the last part of the name of each of their decorators."""
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            for decorator in getattr(one.syntax, "decorator_list", ()):
                found[last_name(decorator)].append(one)
        return found

    def _decorated(self, function: Function) -> Iterator[Function]:
        for decorator in getattr(function.syntax, "decorator_list", ()):
            made = [one for one in self._made_in.get(last_name(decorator), ()) if not one.name.endswith("<lambda>")]
            outers = {id(one.outer) for one in made}
            inner = [one for one in made if id(one) not in outers and one.file == self._file_named(decorator, function)]
            if inner:
                yield from inner[:MOST_TARGETS]
                return
        yield function

    def _file_named(self, value: ast.expr, function: Function) -> str:
        """Returns the file that defines what a decorator names, as far as imports say."""
        base = value.func if isinstance(value, ast.Call) else value
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return ""
        return self.imported(base.id, function.file)[0] or function.file

    def _meant(self, value: ast.expr, function: Function, rounds: int) -> Iterator[Function]:
        if isinstance(value, ast.Subscript):
            yield from self._kept(value, function, rounds)
            return
        found = False
        for one in super()._meant(value, function, rounds):
            found = True
            yield one
        if not found and isinstance(value, ast.Name):  # `average = partial(mean, ...)` at the top of another file
            for made, where in self.imported_values(value.id, function):
                yield from self.meant(made, where, rounds - 1)

    def _kept(self, value: ast.Subscript, function: Function, rounds: int) -> Iterator[Function]:
        """Yields the functions that a mapping holds: those of its text, and those that decorators put into it."""
        wanted = value.slice.value if isinstance(value.slice, ast.Constant) else None
        for held, where in self._set_to(value.value, function) if isinstance(value.value, ast.Name) else ():
            pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
            for named, one in pairs:
                if wanted is None or not isinstance(named, ast.Constant) or named.value == wanted:
                    yield from self.meant(one, where, rounds - 1)
        for target, stored, where in self._stored_under.get(last_name(value.value), ()):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if wanted is None or key is None or key == wanted:
                if isinstance(target.slice, ast.Name) and wanted is not None:
                    yield from self._registered(stored, target.slice.id, wanted, where)
                else:
                    yield from self.meant(stored, where, rounds - 1)

    def _registered(self, stored: ast.expr, key: str, wanted: object, function: Function) -> Iterator[Function]:
        """Yields what `@register("name")` decorates, where its inner function stores that under the name."""
        maker = function.outer
        if maker is None or key not in maker.parameters or not isinstance(stored, ast.Name):
            return
        for one in self.decorated_with.get(maker.name.rpartition(".")[2], ()):
            for decorator in getattr(one.syntax, "decorator_list", ()):
                named = decorator.args[:1] if isinstance(decorator, ast.Call) else []
                if named and isinstance(named[0], ast.Constant) and named[0].value == wanted:
                    yield one

    @cached_property
    def _stored_under(self) -> dict[str, list[tuple[ast.Subscript, ast.expr, Function]]]:
        """What is stored in mappings at the top of files, by their name: `HANDLERS[name] = function`."""
        tops = {name for file in self.files.values() for name, values in self.module_of(file).assigned.items()
                if any(isinstance(one, (ast.Dict, ast.Call)) for one in values)}  # fmt: skip
        found: dict[str, list[tuple[ast.Subscript, ast.expr, Function]]] = defaultdict(list)
        for function in self.functions:
            for node in function.nodes_of(ast.Assign):
                assert isinstance(node, ast.Assign)  # noqa: S101 (asked for by kind)
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and last_name(target.value) in tops:
                        found[last_name(target.value)].append((target, node.value, function))
        return found

    def _passed(self, name: str, function: Function, rounds: int) -> Iterator[Function]:
        for value, caller in self.arguments(name, function):
            yield from self.meant(value, caller, rounds - 1)
        if function.parameters[:1] == (name,):
            yield from self.decorated_with.get(function.name.rpartition(".")[2], ())[: MOST_TARGETS * 2]

    def _methods(
        self, kind: ast.ClassDef, names: tuple[str, ...], *, below: bool = False, depth: int = 4
    ) -> Iterator[Function]:
        own = [node for node in kind.body if isinstance(node, Callable_) and getattr(node, "name", "") in names]
        for node in own:
            if id(node) in self.by_syntax:
                yield from self._decorated(self.by_syntax[id(node)])
        if not own and depth:
            for parent in self.bases(kind):
                yield from self._methods(parent, names, depth=depth - 1)
        for _, one in self.subclasses.get(kind.name, ())[:20] if below else ():
            if one is not kind and kind in self.bases(one):
                yield from self._methods(one, names, depth=0)

    def _attribute(self, value: ast.Attribute, function: Function, rounds: int) -> Iterator[Function]:
        base, name = value.value, value.attr
        if isinstance(base, ast.Name) and base.id in ("self", "cls") and (kind := self.class_of(function)) is not None:
            found = list(self._methods(kind, (name,), below=True))
            yield from found
            for assigned, where in self.class_attributes(kind, name) if not found else ():
                yield from self.meant(assigned, where, rounds - 1)
            return
        if isinstance(base, ast.Call) and last_name(base.func) == "super" and (kind := self.class_of(function)):
            for parent in self.bases(kind):
                yield from self._methods(parent, (name,))
            return
        file = self._module_meant(base, function)
        if file:
            file, original = self._behind(file, name)
            for named in self.by_name.get(original, ()):
                if named.file == file and named.owner is None and named.outer is self.module_of(self.by_path[file]):
                    yield from self._decorated(named)
            for kind_file, made in self.classes.get(original, ()):
                if kind_file == file:
                    yield from self._methods(made, ("__init__",))
            return
        if isinstance(base, ast.Name) and self._is_foreign(base.id, function):
            return
        kinds = list(self.kinds(base, function, rounds - 1))
        for one_kind in kinds:
            yield from self._methods(one_kind, (name,), below=True)
        if not kinds and len(self.python) <= FEW_TO_GUESS and name not in COMMON_METHODS:
            methods = [one for one in self.by_name.get(name, ()) if one.owner is not None]
            yield from methods if len(methods) <= MOST_TARGETS else ()

    @cached_property
    def foreign(self) -> ForeignNames:
        """Which names the files import from elsewhere."""
        return ForeignNames(self.by_path, self.star_meanings)

    def _module_meant(self, value: ast.expr, function: Function) -> str:
        """Returns the project's file that an expression names as a module."""
        if isinstance(value, ast.Name):
            file, original = self.imported(value.id, function.file)
            return file if file and original.rpartition(".")[2] not in self._defined.get(file, ()) else ""
        name = self.name(value, function)
        return self._file_of(function.file, name) if name and "." in name else ""

    def agrees(self, call: ast.Call, function: Function) -> bool:
        """Whether a call is a method by which Accelerate, Fabric or Lightning make a value the same on every rank."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in (
            "reduce",
            "gather",
            "all_gather",
            "broadcast",
        ):
            return False
        owner = last_name(call.func.value).lstrip("_")
        return owner in ("accelerator", "fabric", "strategy") or bool(
            self.name(call.func, function).startswith("idist.")
        )

    def targets(self, call: ast.Call, function: Function) -> tuple[Function, ...]:
        """Returns the project's functions that `call` in `function` may run; asked once a call."""
        known = self._targets.get(id(call))
        if known is None:
            self._targets[id(call)] = ()  # while it is being looked at
            known = super().targets(call, function)
            if not known and (known := tuple(implicit_targets(call, function, self))):
                self._implicit.add(id(call))
            self._targets[id(call)] = known
        return known

    def runs_all(self, call: ast.Call) -> bool:
        """Whether a call runs each of its targets, which are no choice: what its arguments need to become text."""
        return id(call) in self._implicit

    def functions_seeing(self, kind: ast.ClassDef) -> tuple[Function, ...]:
        """Returns the functions of `files` whose `self` is an object of a class: its methods, and what they define."""
        return tuple(self._by_class.get(id(kind), ()))

    @cached_property
    def _by_class(self) -> dict[int, list[Function]]:
        found: dict[int, list[Function]] = {}
        for one in self.functions:
            if (kind := self.class_of(one)) is not None:
                found.setdefault(id(kind), []).append(one)
        return found

    @cached_property
    def answers(self) -> dict[Callable[..., Any], Any]:
        """What was worked out about the whole project, by the question: of `per_project`."""
        return {}

    @cached_property
    def _targets(self) -> dict[int, tuple[Function, ...]]:
        return {}

    @cached_property
    def _implicit(self) -> set[int]:
        return set()


def per_project(ask: Callable[[Project], Answer]) -> Callable[[Project], Answer]:
    """Returns `ask`, worked out once for each project: rules are asked file by file."""

    @functools.wraps(ask)
    def answer(project: Project) -> Answer:
        answers = project.answers
        if ask not in answers:
            answers[ask] = ask(project)
        found: Answer = answers[ask]
        return found

    return answer
