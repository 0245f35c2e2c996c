"""Where a name means what the nearest loop counts, and which keys of dictionaries a program writes. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function, last_name

Counter = tuple[int, int, ast.Call]  # the lines of a loop's body, and the range it counts through


@dataclass(eq=False)
class ReachingNames:
    """Answers for names and items of a program."""

    program: CallGraph
    _counters: dict[int, dict[str, list[Counter]]] = field(default_factory=dict)
    _keys: frozenset[str] | None = None

    def counted_by(self, name: ast.Name, function: Function) -> ast.Call | None:
        """Returns the range that a name counts through where it stands: what else has its name means another thing."""
        around = [one for one in self._of(function).get(name.id, ()) if one[0] <= name.lineno <= one[1]]
        return max(around, key=lambda one: one[0])[2] if around else None

    def counts(self, name: str, function: Function) -> bool:
        """Whether a name counts through a range somewhere in a function."""
        return name in self._of(function)

    def _of(self, function: Function) -> dict[str, list[Counter]]:
        if id(function) not in self._counters:
            found: dict[str, list[Counter]] = {}
            for one in function.nodes_of((ast.For, ast.comprehension)):
                if not isinstance(one, (ast.For, ast.comprehension)) or not isinstance(one.target, ast.Name):
                    continue
                if isinstance(one.iter, ast.Call) and last_name(one.iter.func) == "range":
                    end = (one.end_lineno or 0) if isinstance(one, ast.For) else one.iter.lineno
                    found.setdefault(one.target.id, []).append((one.iter.lineno, end, one.iter))
            self._counters[id(function)] = found
        return self._counters[id(function)]

    def settings_read(self, value: ast.AST) -> ast.expr | None:
        """Returns what an item is read from by a key that nothing in the program writes, None for another value."""
        match value:
            case ast.Subscript(value=holder, slice=ast.Constant(value=str() as key)):
                pass
            case ast.Call(func=ast.Attribute(attr="get", value=holder), args=[ast.Constant(value=str() as key), *_]):
                pass
            case _:
                return None
        return None if key in self._written or last_name(holder) == "environ" else holder

    @property
    def _written(self) -> frozenset[str]:
        if self._keys is None:
            found: set[str] = set()
            for function in self.program.functions:
                for node in function.nodes_of((ast.Dict, ast.Subscript, ast.Call)):
                    if isinstance(node, ast.Dict):
                        found.update(text for one in node.keys if (text := _text(one)))
                    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                        found.add(_text(node.slice))
                    elif isinstance(node, ast.Call):
                        found.update(one.arg for one in node.keywords if one.arg)
                        if last_name(node.func) == "setdefault" and node.args:
                            found.add(_text(node.args[0]))
            self._keys = frozenset(found)
        return self._keys


def _text(value: ast.AST | None) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
