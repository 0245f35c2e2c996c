"""Operations that `and` and `or` leave out: `loss > limit or any_rank(flag)` reduces on some ranks only. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from diagnostics.static.dataflow.rank_predicates import RankPredicates, says_distributed
from diagnostics.static.dataflow.taint_sources import RANK, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.spmd.collective_sequences import counts
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch, strongest

Reason = Callable[[ast.expr, Function], Taint | None]


def short_circuits(
    node: ast.BoolOp, function: Function, sites: CollectiveSites, tests: RankPredicates, reason: Reason
) -> Iterator[DivergentBranch]:
    """Yields what a boolean operator decides where a later operand makes ranks meet and an earlier one may differ.

    The decision is shown as `later if earlier else ...`, which is what the operator does.
    """
    for at in range(1, len(node.values)):
        here = _met_in(node.values[at], function, sites)
        if here is None:
            continue
        for earlier in node.values[:at]:
            if says_distributed(earlier):
                continue
            ranks = tests.asks(earlier, function)
            taint = None if ranks is not None or tests.same(earlier, function) else reason(earlier, function)
            if ranks is None and taint is None:
                continue
            decision = ast.copy_location(ast.IfExp(earlier, node.values[at], ast.Constant(None)), node)
            yield DivergentBranch(
                function=function, decision=decision, shape=DivergenceShape.ARM, here=here, there=None, ranks=ranks,
                why=RANK if taint is None else taint.why, taint=taint,
            )  # fmt: skip
            return


def _met_in(value: ast.expr, function: Function, sites: CollectiveSites) -> CollectiveSite | None:
    """Returns the operation that an operand makes every rank meet in."""
    calls = (one for one in walk(value) if isinstance(one, ast.Call))
    found = (sites.of_call(one, function) for one in calls)
    return strongest(one for one in found if one is not None and counts(one))
