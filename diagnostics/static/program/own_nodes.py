"""The syntax nodes of a function's own body: in the order of the source, by their kinds, the names they store. Pure.

Every rule asks every function for its calls, its assignments, its loops: each is looked up, and not looked for.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from diagnostics.static.program.ast_walk import children

Callable_ = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kinds = type[ast.AST] | tuple[type[ast.AST], ...]


class OwnNodes:
    """The nodes of one function, lambda or module, without those of functions inside."""

    def __init__(self, syntax: ast.AST) -> None:
        self.all = tuple(own_nodes(syntax))
        self._of_kinds: dict[Kinds, tuple[ast.AST, ...]] = {}

    def of(self, kinds: Kinds) -> tuple[ast.AST, ...]:
        """Returns the nodes of some kinds, in their order."""
        if kinds not in self._of_kinds:
            several = [places for kind, places in self._places.items() if issubclass(kind, kinds)]
            places = several[0] if len(several) == 1 else sorted(place for one in several for place in one)
            self._of_kinds[kinds] = tuple(self.all[place] for place in places)
        return self._of_kinds[kinds]

    @cached_property
    def _places(self) -> dict[type[ast.AST], list[int]]:
        found: dict[type[ast.AST], list[int]] = {}
        for place, node in enumerate(self.all):
            found.setdefault(node.__class__, []).append(place)
        return found

    @cached_property
    def stored(self) -> Counter[str]:
        """How often each name is assigned, loops and deletions included."""
        names = (node for node in self.of(ast.Name) if isinstance(node, ast.Name))
        return Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))


def own_nodes(syntax: ast.AST) -> Iterator[ast.AST]:
    """Yields the syntax nodes of a function's body in the order of the source, without those of functions inside."""
    waiting: list[ast.AST] = [syntax.body] if isinstance(syntax, ast.Lambda) else list(getattr(syntax, "body", ()))
    waiting.reverse()
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Callable_):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults]
        else:
            waiting += reversed(children(node))


def statements_of(syntax: ast.AST) -> list[ast.stmt]:
    """Returns the statements of a function or module; a lambda has an expression in their place, and gives none."""
    body = getattr(syntax, "body", ())
    return body if isinstance(body, list) else []
