"""What else must hold where a test of the rank parts ranks: of `rank == 0 or sharded`, that it is not sharded. Pure.

Conditions that every rank answers alike are compared by their text, also in the functions that they are handed on to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function

Facts = frozenset[tuple[str, bool]]

_ROUNDS = (ConcreteRank(0), ConcreteRank(1))


def common_facts(test: ast.expr, function: Function, tests: RankPredicates) -> Facts:
    """Returns the conditions beside the one for the rank, and how they fall where the ranks part.

    Where `rank == 0 or sharded` is true on rank 0 alone, `sharded` is false; of `rank == 0 and due`, `due` is true.
    """
    if not isinstance(test, ast.BoolOp):
        return frozenset()
    holds = isinstance(test.op, ast.And)
    return frozenset(
        (ast.unparse(part), holds)
        for part in test.values
        if all(tests.truth(part, function, on) is None for on in _ROUNDS) and _is_kept(part, function)
    )


def _is_kept(part: ast.expr, function: Function) -> bool:
    """Whether a condition reads only what is set once: it comes to the same wherever it is asked."""
    if any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(part)):
        return False
    return all(len(function.assigned.get(root, ())) <= 1 for root in _roots(part))


def _roots(value: ast.AST) -> Iterator[str]:
    yield from (node.id for node in walk(value) if isinstance(node, ast.Name))


def known_by(test: ast.expr, facts: Facts) -> bool | None:
    """Returns how a test falls by what is known, None where that does not say."""
    if not facts:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = known_by(test.operand, facts)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        ending = isinstance(test.op, ast.Or)
        parts = [known_by(one, facts) for one in test.values]
        if ending in parts:
            return ending
        return None if None in parts else not ending
    text = ast.unparse(test)
    return True if (text, True) in facts else False if (text, False) in facts else None


def handed_on(facts: Facts, call: ast.Call, target: Function) -> Facts:
    """Returns what is known inside of a called function, in its own names."""
    if not facts:
        return facts
    method = target.parameters[:1] in (("self",), ("cls",))
    names = dict(_given(call, target, method=method))
    of_self = method and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == target.parameters[0]
    if of_self:
        names[target.parameters[0]] = target.parameters[0]
    found = set()
    for text, value in facts:
        test = ast.parse(text, mode="eval").body
        if all(root in names and root not in target.assigned for root in _roots(test)):
            renamed = _Renamed(names).visit(test)
            if all(root not in target.assigned for root in _roots(renamed)):
                found.add((ast.unparse(renamed), value))
    return frozenset(found)


def _given(call: ast.Call, target: Function, *, method: bool) -> Iterator[tuple[str, str]]:
    """Yields (the caller's name, the parameter) of each name that a call hands on as it is."""
    parameters = target.parameters[1:] if method else target.parameters
    if any(isinstance(one, ast.Starred) for one in call.args):
        return
    pairs = [*zip(parameters, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
    for parameter, argument in pairs:
        if parameter is not None and isinstance(argument, ast.Name):
            yield argument.id, parameter


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names[node.id], node.ctx), node)
