"""What a value of a function is made of, and what follows from a value: by assignment, mask or branch. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.samples.transitions import Key, key_of, unpacked

_ROUNDS = 4
_MOST = 600


def made_from(value: ast.AST, function: Function) -> list[ast.AST]:
    """Returns the nodes of a value and of what its names are assigned, but for what is taken out of a tuple."""
    apart = {name for names, _ in unpacked(function) for name in names}
    found: list[ast.AST] = []
    seen: set[str] = set()
    waiting: list[ast.AST] = [value]
    while waiting and len(found) < _MOST:
        for node in walk(waiting.pop()):
            found.append(node)
            if isinstance(node, ast.Name) and node.id not in seen and node.id not in apart:
                seen.add(node.id)
                waiting += function.assigned.get(node.id, [])
    return found


def influenced(ends: Sequence[Key], named: re.Pattern[str], function: Function) -> set[Key]:
    """Returns the names and attributes that follow from some values: computed, masked or set under a test of them."""
    found = set(ends)
    for _ in range(_ROUNDS):
        before = len(found)
        for node in function.nodes_of((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Call, ast.If, ast.IfExp)):
            found |= set(_reached(node, found, named))
        if len(found) == before:
            break
    return found - set(ends)


def _reached(node: ast.AST, found: set[Key], named: re.Pattern[str]) -> Iterator[Key]:
    if isinstance(node, ast.Call):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        given = [*node.args, *(one.value for one in node.keywords)]
        if owner is not None and node.func.attr.endswith("_") and _reads(given, found, named):  # type: ignore[attr-defined]
            yield from _base(owner)
    elif isinstance(node, ast.If):
        if _reads([node.test], found, named):
            for branch in (*node.body, *node.orelse):
                for inner in walk(branch):
                    if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, ast.Store):
                        yield from _base(inner)
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        indices = [one.slice for one in targets if isinstance(one, ast.Subscript)]
        value = [node.value] if node.value is not None else []
        if _reads([*value, *indices], found, named):
            for target in targets:
                for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    yield from _base(one)


def _base(node: ast.expr) -> Iterator[Key]:
    """Yields what is stored into: `values` of `values[ended]`."""
    key = key_of(node)
    if key is None and isinstance(node, ast.Subscript):
        key = key_of(node.value)
    if key is not None:
        yield key


def _reads(values: Sequence[ast.AST], found: set[Key], named: re.Pattern[str]) -> bool:
    """Whether values are computed from some keys, or from what is called like an end."""
    return any(
        (key := key_of(node)) is not None and (key in found or bool(named.search(key[1])))
        for value in values
        for node in walk(value)
    )
