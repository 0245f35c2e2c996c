"""Which values a collective made the same on every rank, or filled with what is the same. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow.taint_rules import agrees, base_name
from diagnostics.static.program.call_graph import CallGraph, Function, last_name


@dataclass(eq=False)
class AgreedValues:
    """What ranks agreed on in a program."""

    program: CallGraph
    _fills: dict[int, dict[str, list[int]]] = field(default_factory=dict)

    def filled_before(self, name: ast.Name, function: Function) -> bool:
        """Whether a collective filled the name before this line and nothing has been assigned to it since."""
        filled = [line for line in self._filled(function).get(name.id, ()) if line < name.lineno]
        if not filled:
            return False
        last = max(filled)
        return not any(last < value.lineno < name.lineno for value in function.assigned.get(name.id, ()))

    def read_off(self, value: ast.AST, function: Function) -> bool:
        """Whether a value is read off what is the same on every rank: `worst.item()` after all_reduce(worst)."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        return self.holds(value.func.value, function)

    def holds(self, value: ast.expr, function: Function, rounds: int = 4) -> bool:
        """Whether a collective made a value, or filled it."""
        if rounds < 0:
            return False  # `x = x.float()`
        if isinstance(value, ast.Call):
            if agrees(last_name(value.func)) or self.program.agrees(value, function):
                return True
            return isinstance(value.func, ast.Attribute) and self.holds(value.func.value, function, rounds - 1)
        if isinstance(value, ast.BinOp):
            return all(isinstance(one, ast.Constant) or self.holds(one, function, rounds - 1)
                       for one in (value.left, value.right))  # fmt: skip
        if isinstance(value, (ast.Subscript, ast.Attribute)):
            return self.holds(value.value, function, rounds - 1)
        if not isinstance(value, ast.Name):
            return False
        made = function.assigned.get(value.id, ())
        by_calls = bool(made) and all(
            isinstance(one, ast.Call) and self.holds(one, function, rounds - 1) for one in made
        )
        return by_calls or self.filled_before(value, function)

    def _filled(self, function: Function) -> dict[str, list[int]]:
        if id(function) not in self._fills:
            found: dict[str, list[int]] = defaultdict(list)
            for node in function.own_nodes:
                if isinstance(node, ast.Call) and last_name(node.func) in operations.SHARED:
                    for argument in node.args[:1]:
                        found[base_name(argument)].append(node.lineno)
            self._fills[id(function)] = found
        return self._fills[id(function)]
