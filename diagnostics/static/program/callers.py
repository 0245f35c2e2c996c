"""Which calls run a function of an audited project, and what they pass for its parameters. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.name_resolution import NameResolution


class Callers(NameResolution):
    """What is known of who calls."""

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
