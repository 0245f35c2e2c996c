"""Where a name means what the nearest loop counts, and which keys of dictionaries a program writes. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function, last_name

Place = tuple[int, int]  # a line and a column
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True, eq=False)
class Counter:
    """Where a name means what a loop counts, and the range that it counts through.

    `for n in range(n)` goes through the n of before: the iterable, and in a comprehension those left of it, are not
    part of the loop. Without that a name would be its own bound.
    """

    span: tuple[Place, Place]
    before: tuple[tuple[Place, Place], ...]
    bound: ast.Call

    def holds(self, name: ast.Name) -> bool:
        """Whether a name stands in the loop."""
        at = (name.lineno, name.col_offset)
        return _within(at, self.span) and not any(_within(at, one) for one in self.before)


@dataclass(eq=False)
class ReachingNames:
    """Answers for names and items of a program."""

    program: CallGraph
    _counters: dict[int, dict[str, list[Counter]]] = field(default_factory=dict)
    _keys: frozenset[str] | None = None

    def counted_by(self, name: ast.Name, function: Function) -> ast.Call | None:
        """Returns the range that a name counts through where it stands: what else has its name means another thing."""
        around = [one for one in self._of(function).get(name.id, ()) if one.holds(name)]
        return max(around, key=lambda one: one.span[0]).bound if around else None

    def counts(self, name: str, function: Function) -> bool:
        """Whether a name counts through a range somewhere in a function."""
        return name in self._of(function)

    def _of(self, function: Function) -> dict[str, list[Counter]]:
        if id(function) not in self._counters:
            found: dict[str, list[Counter]] = {}
            for loop in function.nodes_of((ast.For, *_COMPREHENSIONS)):
                before: tuple[tuple[Place, Place], ...] = ()
                for target, over in _turns(loop):
                    before = (*before, _span(over))
                    if isinstance(target, ast.Name) and isinstance(over, ast.Call) and last_name(over.func) == "range":
                        found.setdefault(target.id, []).append(Counter(_span(loop), before, over))
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


def _turns(loop: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Returns what a loop, or each part of a comprehension, goes through, with its target."""
    match loop:
        case ast.For(target=target, iter=over):
            return [(target, over)]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return [(one.target, one.iter) for one in loop.generators]
    return []


def _span(node: ast.AST) -> tuple[Place, Place]:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return (line, column), (getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column)


def _within(at: Place, span: tuple[Place, Place]) -> bool:
    return span[0] <= at < span[1]
