"""The classes of an audited project: their bases and attributes; and who calls a function, with what. Pure."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.functions import Function, last_name, paired
from diagnostics.static.program.name_resolution import NameResolution

# What programs call the object that holds their settings, and classes of which it may be: no data set, no sampler.
_SETTINGS = frozenset(["args", "cfg", "conf", "config", "opt", "opts", "options", "hparams", "FLAGS"])
_OF_SETTINGS = re.compile(r"arg|conf|opt|param|setting|flag|namespace", re.IGNORECASE)


class ClassHierarchy(NameResolution):
    """What is known of classes, and of calls that are looked for from the function that is called."""

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
            holders = self._own_attributes.get(value.attr, [])
            if last_name(base) in _SETTINGS:
                holders = [one for one in holders if _may_hold_settings(one, value.attr)]
            tops = {id(self._holder(one, value.attr)) for one in holders}
            kind = next(iter(holders)) if len(tops) == 1 else None
        return f"{id(self._holder(kind, value.attr))}.{value.attr}" if kind is not None else ""

    def values_by_name(self, value: ast.Attribute) -> list[tuple[ast.expr, Function]]:
        """Returns what attributes of this name are set to, whosever they are; of settings, only of such."""
        found = self.attributes.get(value.attr, [])
        if last_name(value.value) not in _SETTINGS:
            return found
        return [one for one in found if (kind := self.class_of(one[1])) is None or _may_hold_settings(kind, value.attr)
                or not _is_of_self(value.attr, one)]  # fmt: skip

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

    def arguments(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Function]]:
        """Yields what callers pass for a parameter, with the function that calls."""
        at = function.parameters.index(name) - function.implied
        for call, caller in self.callers(function)[:8]:
            yield from ((one.value, caller) for one in call.keywords if one.arg == name)
            if 0 <= at < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args[: at + 1]):
                yield call.args[at], caller
        for values, caller, numbered in self._started_with.get(id(function), ()):
            given = values[at - numbered : at - numbered + 1] if at >= numbered else []
            if given and not any(isinstance(one, ast.Starred) for one in values[: at - numbered + 1]):
                yield given[0], caller

    @property
    def _started_with(self) -> dict[int, list[tuple[list[ast.expr], Function, int]]]:
        """What functions are given that run as processes or threads, and whether a number comes before it.

        `Process(target=f, args=(x, y))`, `spawn(f, args=(x, y))`.
        """
        if self._starts is None:
            self._starts = {}  # while it is being worked out
            found: dict[int, list[tuple[list[ast.expr], Function, int]]] = defaultdict(list)
            for name in ("Process", "Thread", "spawn", "start_processes"):
                numbered = int(name in ("spawn", "start_processes"))
                for call, function in self.calls_by_name.get(name, ()):
                    given = dict(zip(("fn", "args"), call.args, strict=False)) if numbered else {}
                    given.update({one.arg: one.value for one in call.keywords if one.arg is not None})
                    target, values = given.get("fn" if numbered else "target"), given.get("args")
                    if target is not None and isinstance(values, (ast.Tuple, ast.List)):
                        for one in self.meant(target, function):
                            found[id(one)].append((values.elts, function, numbered))
            self._starts = found
        return self._starts

    _starts: dict[int, list[tuple[list[ast.expr], Function, int]]] | None = None

    def callers(self, function: Function) -> list[tuple[ast.Call, Function]]:
        """Returns the calls that may run a function; those of an `__init__` make its class."""
        known = self._callers.get(id(function))
        if known is None:
            called = function.name.rpartition(".")[2]
            made = called == "__init__" and function.owner is not None
            keys = self._names_made(function.owner) if made and function.owner is not None else [called]
            keys += ["__init__"] if called == "__init__" else []
            if called in ("__call__", "forward") and function.owner is not None:
                keys += self._names_of_objects(function.owner)
            self._callers[id(function)] = []  # while it is being looked at
            runs = {id(one) for one in (function, *self._decorated(function))}
            found = [
                one
                for key in keys
                for one in self.calls_by_name.get(key, ())[:200]
                if runs.intersection(map(id, self.targets(one[0], one[1])))
            ]
            known = self._callers[id(function)] = found
        return known

    def _names_made(self, kind: ast.ClassDef, depth: int = 3) -> list[str]:
        """Returns the names of the classes of which an object is made by this class's own `__init__`."""
        found = [kind.name]
        for _, one in self.subclasses.get(kind.name, ())[:20] if depth else ():
            own = any(isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in one.body)
            if one is not kind and not own:
                found += self._names_made(one, depth - 1)
        return found

    @cached_property
    def subclasses(self) -> dict[str, list[tuple[str, ast.ClassDef]]]:
        """(file, class) by the last part of a base's name."""
        found: dict[str, list[tuple[str, ast.ClassDef]]] = defaultdict(list)
        for several in self.classes.values():
            for file, kind in several:
                for base in kind.bases:
                    found[last_name(base)].append((file, kind))
        return found

    def _names_of_objects(self, kind: ast.ClassDef) -> list[str]:
        """Returns the names that objects of a class are given: `save` of `save = Saver()`."""
        made = {id(call) for call, _ in self.calls_by_name.get(kind.name, ())[:50]}
        holders = {id(function): function for _, function in self.calls_by_name.get(kind.name, ())[:50]}
        found = [
            last_name(target)
            for function in holders.values()
            for node in function.nodes_of(ast.Assign)
            if isinstance(node, ast.Assign) and id(node.value) in made
            for target in node.targets
        ]
        return list(dict.fromkeys(name for name in found if name))

    @cached_property
    def _callers(self) -> dict[int, list[tuple[ast.Call, Function]]]:
        return {}


def _attributes_of_self(node: ast.AST) -> Iterator[str]:
    """Yields the names of the attributes that a statement assigns to `self`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                yield one.attr


def _may_hold_settings(kind: ast.ClassDef, name: str) -> bool:
    return _OF_SETTINGS.search(kind.name) is not None or name in _set_in_body(kind)


def _is_of_self(name: str, given: tuple[ast.expr, Function]) -> bool:
    """Whether a value is given to an attribute of `self`."""
    value, function = given
    return any(
        isinstance(target, ast.Attribute) and target.attr == name and one is value and last_name(target.value) == "self"
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
        for each in node.targets
        for target, one in paired(each, node.value)
    )


def _set_in_body(kind: ast.ClassDef) -> Iterator[str]:
    """Yields the names that a class's own body assigns."""
    for node in kind.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        yield from (one.id for one in targets if isinstance(one, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
