"""What local names were made of, and where: a use has what was set before it, or in a loop around it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.static.dataflow.taint_rules import importance
from diagnostics.static.dataflow.taint_sources import Taint
from diagnostics.static.program.functions import Function

AT_ENTRY = 0  # the line of what a parameter was given


@dataclass(slots=True)
class NameTaints:
    """Taints by function, name and the line of the statement that set them."""

    _known: dict[tuple[int, str], dict[int, Taint]] = field(default_factory=dict)
    _loops: dict[int, tuple[range, ...]] = field(default_factory=dict)
    _replaced: dict[int, dict[str, list[int]]] = field(default_factory=dict)

    def add(self, function: Function, name: str, taint: Taint, line: int) -> bool:
        """Adds a taint; returns whether it says more than what was known of that line."""
        lines = self._known.setdefault((id(function), name), {})
        known = lines.get(line)
        if known is not None and importance(taint) <= importance(known):
            return False
        lines[line] = taint
        return True

    def best(self, function: Function, name: str) -> Taint | None:
        """Returns the weightiest taint of a name, wherever it was set."""
        return max(self._known.get((id(function), name), {}).values(), key=importance, default=None)

    def holds(self, function: Function, name: str) -> bool:
        """Whether anything is known of a name of this function."""
        return (id(function), name) in self._known

    def at(self, name: ast.Name, function: Function, since: int = 0) -> Taint | None:
        """Returns the weightiest taint that can have come to this use of a name, of what was set after line `since`."""
        lines = self._known.get((id(function), name.id), {})
        if lines:
            since = max(since, self._replaced_before(name, function) - 1)
        around = [loop for loop in self._loops_of(function) if name.lineno in loop and since not in loop]
        reaching = [
            taint
            for line, taint in lines.items()
            if since < line <= name.lineno or any(line in loop for loop in around) or (line == AT_ENTRY == since)
        ]
        return max(reaching, key=importance, default=None)

    def _replaced_before(self, name: ast.Name, function: Function) -> int:
        """Returns the last line before this use on which the name was given another value whatever happened; else 0."""
        if id(function) not in self._replaced:
            replaced: dict[str, list[int]] = {}
            body = getattr(function.syntax, "body", ())  # a lambda has an expression
            for one in body if isinstance(body, list) else ():
                for target in one.targets if isinstance(one, ast.Assign) else ():
                    parts = target.elts if isinstance(target, ast.Tuple) else (target,)
                    for part in parts:
                        if isinstance(part, ast.Name):
                            replaced.setdefault(part.id, []).append(one.lineno)
            self._replaced[id(function)] = replaced
        return max((line for line in self._replaced[id(function)].get(name.id, ()) if line < name.lineno), default=0)

    def _loops_of(self, function: Function) -> tuple[range, ...]:
        if id(function) not in self._loops:
            self._loops[id(function)] = tuple(_loops(function))
        return self._loops[id(function)]


def _loops(function: Function) -> Iterator[range]:
    for node in function.nodes_of((ast.For, ast.AsyncFor, ast.While)):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield range(node.lineno, (node.end_lineno or node.lineno) + 1)
