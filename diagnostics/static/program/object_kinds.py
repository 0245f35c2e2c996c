"""Of which of the project's classes a value is an object, and what attributes of such objects are set to. Pure.

Followed through names, parameters, annotations, attributes, wrappers, what functions give back, items of containers.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.class_hierarchy import ClassHierarchy
from diagnostics.static.program.functions import Function, last_name

# Methods of modules that give back the module they are called on.
_GIVES_ITSELF = frozenset(
    ["to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_"]
)
_MOST_MADE, _MOST_ITEMS, _MOST_APPENDED = 20, 8, 300
_DATA_CLASSES = frozenset(["dataclass", "define", "frozen", "attrs", "s"])
_RECORDS = frozenset(["NamedTuple", "BaseModel"])
_SAME_ITEMS = frozenset(["list", "tuple", "sorted", "reversed", "iter"])


class ObjectKinds(ClassHierarchy):
    """What is known of objects."""

    def attribute_values(
        self, value: ast.Attribute, function: Function, rounds: int = 3
    ) -> list[tuple[ast.expr, Function]]:
        """Returns what the attribute is set to in the class of the object, as far as that is known.

        A field of a data class is what its objects are made with; its default where one is made without.
        """
        base = value.value
        own = isinstance(base, ast.Name) and base.id in ("self", "cls")
        kind = self.class_of(function) if own else next(self.kinds(base, function, rounds), None)
        if kind is None:
            return []
        assigned = self.class_attributes(kind, value.attr)
        given, always = self.field_values(kind, value.attr)
        return [one for one in assigned if not (always and self._is_default(one[0], kind))] + given

    def _is_default(self, value: ast.expr, kind: ast.ClassDef) -> bool:
        return any(isinstance(node, ast.AnnAssign) and node.value is value for node in kind.body)

    def field_values(self, kind: ast.ClassDef, name: str) -> tuple[list[tuple[ast.expr, Function]], bool]:
        """Returns what a field is given where objects of a data class are made, and whether each gives it."""
        key = (id(kind), name)
        if key not in self._fields_given:
            self._fields_given[key] = [], False  # while it is being looked at
            self._fields_given[key] = self._field_values(kind, name)
        return self._fields_given[key]

    @cached_property
    def _fields_given(self) -> dict[tuple[int, str], tuple[list[tuple[ast.expr, Function]], bool]]:
        return {}

    def _field_values(self, kind: ast.ClassDef, name: str) -> tuple[list[tuple[ast.expr, Function]], bool]:
        names = self.fields(kind)
        if name not in names:
            return [], False
        found: list[tuple[ast.expr, Function]] = []
        made = 0
        for called in (kind.name, "cls"):
            for call, where in self.calls_by_name.get(called, ())[:_MOST_MADE]:
                if self._made_by(call, where) is kind:
                    made += 1
                    found += [(value, where) for one, value in given(call, names) if one == name]
        return found, made == len(found) > 0

    def _made_by(self, call: ast.Call, function: Function) -> ast.ClassDef | None:
        """Returns the class of which a call makes an object itself."""
        if isinstance(call.func, ast.Name) and call.func.id == "cls":
            return self.class_of(function)
        return self.class_named(last_name(call.func), call.func, function.file)

    def fields(self, kind: ast.ClassDef) -> tuple[str, ...]:
        """Returns the fields of a data class or named tuple in the order in which a call gives them, else none."""
        if id(kind) not in self._fields:
            self._fields[id(kind)] = tuple(dict.fromkeys(self._own_fields(kind)))
        return self._fields[id(kind)]

    @cached_property
    def _fields(self) -> dict[int, tuple[str, ...]]:
        return {}

    def _own_fields(self, kind: ast.ClassDef, depth: int = 3) -> Iterator[str]:
        decorators = {last_name(one) for one in kind.decorator_list}
        bases = {last_name(one) for one in kind.bases}
        if decorators.isdisjoint(_DATA_CLASSES) and bases.isdisjoint(_RECORDS):
            return
        for parent in self.bases(kind) if depth else ():
            yield from self._own_fields(parent, depth - 1)
        for node in kind.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id

    def given_fields(self, call: ast.Call, function: Function) -> Iterator[tuple[str, ast.expr]]:
        """Yields (key of the attribute, value) for each field that a call gives to an object of a data class."""
        kind = self._made_by(call, function)
        names = self.fields(kind) if kind is not None else ()
        if kind is not None:
            yield from ((f"{id(self._holder(kind, name))}.{name}", value) for name, value in given(call, names))

    def kinds(self, value: ast.expr, function: Function, rounds: int = 3) -> Iterator[ast.ClassDef]:
        """Yields the project's classes that a value may be an object of, through wrappers like DDP(Net())."""
        if rounds < 0:
            return
        key = (id(value), id(function), rounds)
        if key not in self._known_kinds:  # the value is kept, so that its identity stays its own
            self._known_kinds[key] = value, tuple(self._kinds(value, function, rounds))
        yield from self._known_kinds[key][1]

    @cached_property
    def _known_kinds(self) -> dict[tuple[int, int, int], tuple[ast.expr, tuple[ast.ClassDef, ...]]]:
        return {}

    def _kinds(self, value: ast.expr, function: Function, rounds: int) -> Iterator[ast.ClassDef]:
        if isinstance(value, ast.Name) and value.id == "self" and (kind := self.class_of(function)) is not None:
            yield kind
        elif isinstance(value, ast.Call):
            made = self._made_by(value, function)
            if made is not None:
                yield made
                return
            if isinstance(value.func, ast.Attribute) and value.func.attr in _GIVES_ITSELF:
                yield from self.kinds(value.func.value, function, rounds)
                return
            targets = self.targets(value, function)
            for target in targets:
                for node in target.nodes_of(ast.Return):
                    if isinstance(node, ast.Return) and node.value is not None and rounds:
                        yield from self.kinds(node.value, target, rounds - 2)
            # What a wrapper is given is what it gives back; a method of the project's own says itself what it gives.
            known = bool(targets) and isinstance(value.func, ast.Attribute)
            for argument in value.args[:1] if not known else ():
                yield from self.kinds(argument, function, rounds - 1)
        elif isinstance(value, ast.Name):
            yield from self._kinds_of_name(value.id, function, rounds)
        elif isinstance(value, ast.Attribute):
            for holder in self.kinds(value.value, function, rounds - 1):
                assigned = self.class_attributes(holder, value.attr) or self.field_values(holder, value.attr)[0]
                for one, where in assigned[:6]:
                    yield from self.kinds(one, where, rounds - 1)
        elif isinstance(value, (ast.IfExp, ast.BoolOp)):
            ways = [value.body, value.orelse] if isinstance(value, ast.IfExp) else value.values
            for one in ways:
                yield from self.kinds(one, function, rounds - 1)

    def _kinds_of_name(self, name: str, function: Function, rounds: int) -> Iterator[ast.ClassDef]:
        scope: Function | None = function
        while scope is not None:
            if name in scope.assigned:
                for one in scope.assigned[name][:6]:
                    yield from self.kinds(one, scope, rounds - 1)
                for over in self.gone_through(scope).get(name, ())[:2]:
                    for item, where in self.items(over, scope, rounds - 1):
                        yield from self.kinds(item, where, rounds - 1)
                return
            if name in scope.parameters:
                annotation = _annotation(scope, name)
                made = self.class_named(last_name(annotation), annotation, scope.file) if annotation else None
                if made is not None:
                    yield made
                elif annotation is None or not self._is_ours(annotation, scope):
                    yield from self._kinds_passed(name, scope, rounds)
                return
            scope = scope.outer
        for one, where in self.imported_values(name, function):
            yield from self.kinds(one, where, rounds - 1)

    def gone_through(self, scope: Function) -> dict[str, list[ast.expr]]:
        """What loops of a function go through, by the name of the item."""
        if id(scope) not in self._loops:
            found: dict[str, list[ast.expr]] = defaultdict(list)
            for node in scope.nodes_of((ast.For, ast.AsyncFor, ast.comprehension)):
                if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                    target, over = node.target, node.iter
                    if isinstance(over, ast.Call) and last_name(over.func) == "enumerate" and over.args:
                        over = over.args[0]
                        target = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
                    if isinstance(over, ast.Call) and last_name(over.func) == "items" and isinstance(target, ast.Tuple):
                        target = target.elts[-1]
                    if isinstance(target, ast.Name):
                        found[target.id].append(over)
            self._loops[id(scope)] = found
        return self._loops[id(scope)]

    @cached_property
    def _loops(self) -> dict[int, dict[str, list[ast.expr]]]:
        return {}

    def items(self, value: ast.expr, function: Function, rounds: int = 3) -> Iterator[tuple[ast.expr, Function]]:
        """Yields what a container holds, as far as it is written: `[A(), B()]`, `hooks.append(C())`."""
        if rounds < 0:
            return
        match value:
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                yield from ((one, function) for one in elts[:_MOST_ITEMS])
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                yield elt, function
            case ast.BoolOp(values=values):
                for one in values:
                    yield from self.items(one, function, rounds - 1)
            case ast.Call(func=ast.Attribute(value=held, attr="items" | "values"), args=[]):
                yield from self._held(held, function, rounds - 1)
            case ast.Call(func=func, args=[inner, *_]) if last_name(func) in _SAME_ITEMS:
                yield from self.items(inner, function, rounds - 1)
            case ast.Name() | ast.Attribute():
                yield from self._appended(value, function)
                for one, where in self._set_to(value, function, rounds - 1):
                    yield from self.items(one, where, rounds - 1)

    def _held(self, mapping: ast.expr, function: Function, rounds: int) -> Iterator[tuple[ast.expr, Function]]:
        """Yields the values of a mapping that is written out, or that callers fill by keywords: `**parts`."""
        if isinstance(mapping, ast.Dict):
            yield from ((one, function) for one in mapping.values[:_MOST_ITEMS])
        elif isinstance(mapping, (ast.Name, ast.Attribute)) and rounds >= 0:
            arguments = getattr(function.syntax, "args", None)
            several = arguments.kwarg if isinstance(arguments, ast.arguments) else None
            if isinstance(mapping, ast.Name) and several is not None and several.arg == mapping.id:
                for call, caller in self.callers(function)[:4]:
                    yield from ((one.value, caller) for one in call.keywords if one.arg not in function.parameters)
                return
            for one, where in self._set_to(mapping, function, rounds):
                yield from self._held(one, where, rounds - 1)

    def _set_to(
        self, value: ast.Name | ast.Attribute, function: Function, rounds: int = 3
    ) -> list[tuple[ast.expr, Function]]:
        if isinstance(value, ast.Attribute):
            return self.attribute_values(value, function, rounds)[:4]
        scope: Function | None = function
        while scope is not None:
            if value.id in scope.assigned:
                return [(one, scope) for one in scope.assigned[value.id][:4]]
            if value.id in scope.parameters:
                return list(self.arguments(value.id, scope))[:4]
            scope = scope.outer
        return self.imported_values(value.id, function)

    def imported_values(self, name: str, function: Function) -> list[tuple[ast.expr, Function]]:
        """Returns what a name that a file imports is assigned at the top of the file that it comes from."""
        file, original = self.imported(name, function.file)
        module = self.module_of(self.by_path[file]) if file in self.by_path else None
        return [(one, module) for one in module.assigned.get(original, ())[:6]] if module is not None else []

    def _appended(self, value: ast.Name | ast.Attribute, function: Function) -> Iterator[tuple[ast.expr, Function]]:
        """Yields what is added to a container, in this function, or in the class whose attribute it is."""
        name, kind = last_name(value), self.class_of(function)
        for call, where in self.calls_by_name.get("append", ())[:_MOST_APPENDED]:
            near = where is function or (isinstance(value, ast.Attribute) and self.class_of(where) is kind is not None)
            if near and call.args and isinstance(call.func, ast.Attribute) and last_name(call.func.value) == name:
                yield call.args[0], where

    def _is_ours(self, annotation: ast.expr, function: Function) -> bool:
        """Whether a class stands in a module of the project that is not looked at: what it is, is not guessed."""
        return self.name(annotation, function).rpartition(".")[0] in self.file_of_module


def given(call: ast.Call, names: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    """Yields what a call gives, by the names of what it is given for."""
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield name, value
    yield from ((one.arg, one.value) for one in call.keywords if one.arg in names)


def argument(call: ast.Call, name: str, names: tuple[str, ...]) -> ast.expr | None:
    """Returns what a call gives for one of the parameters `names`, None where that is nothing, or behind a star."""
    named = next((one.value for one in call.keywords if one.arg == name), None)
    return named if named is not None else dict(given(call, names)).get(name)


def _annotation(function: Function, name: str) -> ast.expr | None:
    """Returns the class in a parameter's annotation, also of `Net | None` and "Net"."""
    if isinstance(function.syntax, (ast.Module, ast.Lambda)):
        return None
    arguments = function.syntax.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if one.arg == name and one.annotation is not None:
            value = one.annotation
            if isinstance(value, ast.BinOp):
                value = value.left
            if isinstance(value, ast.Subscript) and last_name(value.value) == "Optional":
                value = value.slice
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.isidentifier():
                return ast.Name(value.value, ast.Load())
            return value if isinstance(value, (ast.Name, ast.Attribute)) else None
    return None
