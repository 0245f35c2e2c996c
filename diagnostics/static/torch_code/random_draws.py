"""What a program draws from a generator of a given name, and whether ranks may mean to draw it alike. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

_ORDERS = frozenset(["randperm", "shuffle", "permutation", "permuted", "choice", "choices", "sample", "random_split"])
_SHAPED = re.compile(
    r"\.shape\b|\.size\(|_like\(|\.(?:normal_|uniform_|bernoulli_|exponential_|random_)\(|\bmultinomial\("
)
_SETS = frozenset(["seed", "manual_seed", "get_state", "set_state", "getstate", "setstate", "initial_seed", "spawn"])
# What ranks have to do alike, or one part each of: numbers for weights and gradients, a share of a whole batch.
_MEANT = re.compile(
    r"rank|world|replica|shard|param|grad|bucket|weight|shared|common|global|sync|same_|layer", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Draw:
    """One call that draws; `shaped`: as many numbers as a tensor has, that came from elsewhere."""

    line: int
    function: str
    orders: bool
    shaped: bool
    meant: bool


def draws_from(name: str, trees: Sequence[ast.Module]) -> Iterator[tuple[int, Draw]]:
    """Yields (number of the tree, draw) of what is drawn from generators of this name, and where they are handed."""
    names: set[tuple[str | None, str]] = {(None, name)}
    for _ in range(2):  # a function that takes it, and one that this one calls
        names |= {found for tree in trees for found in _given(tree, names, trees)}
    for number, tree in enumerate(trees):
        for function in _functions(tree):
            for node in _own_nodes(function):
                if isinstance(node, ast.Call) and (drawn := _drawn(node, function, names)) is not None:
                    yield number, drawn


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Module]:
    yield tree
    yield from (node for node in walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a function, or of the module's own lines, but not of functions inside."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def _is_one(node: ast.expr | None, function: ast.AST, names: set[tuple[str | None, str]]) -> bool:
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    last = last_name(node)
    return (None, last) in names or (getattr(function, "name", ""), last) in names


def _given(
    tree: ast.Module, names: set[tuple[str | None, str]], trees: Sequence[ast.Module]
) -> Iterator[tuple[str, str]]:
    """Yields (function, parameter) of those that are called with one of the names."""
    for function in _functions(tree):
        for call in _own_nodes(function):
            if not isinstance(call, ast.Call):
                continue
            at = [place for place, one in enumerate(call.args) if _is_one(one, function, names)]
            words = [one.arg for one in call.keywords if one.arg and _is_one(one.value, function, names)]
            if not at and not words:
                continue
            called = last_name(call.func)
            for other in (one for each in trees for one in _functions(each) if getattr(one, "name", "") == called):
                taken = (
                    [one.arg for one in other.args.args if one.arg != "self"]
                    if not isinstance(other, ast.Module)
                    else []
                )
                yield from ((called, taken[place]) for place in at if place < len(taken))
                yield from ((called, word) for word in words if word in taken)


def _drawn(call: ast.Call, function: ast.AST, names: set[tuple[str | None, str]]) -> Draw | None:
    what = last_name(call.func)
    given = next((one.value for one in call.keywords if one.arg in ("generator", "rng", "random_state")), None)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not (_is_one(given, function, names) or (what not in _SETS and _is_one(owner, function, names))):
        return None
    text = ast.unparse(call)
    around = "" if isinstance(function, ast.Module) else ast.unparse(function)
    return Draw(
        line=call.lineno,
        function=getattr(function, "name", ""),
        orders=what in _ORDERS or what[:1].isupper(),  # a sampler or loader
        shaped=bool(_SHAPED.search(text)),
        meant=bool(_MEANT.search(text) or _MEANT.search(around)),
    )
