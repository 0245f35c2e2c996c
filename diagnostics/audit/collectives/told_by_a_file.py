"""Ranks that part by a file: where each has one of its own, or sees the one of all in another round."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch


def decides_by_a_file(parting: DivergentBranch, project: Project) -> bool:
    """Whether it is likely that ranks see files differently where they part."""
    direct = parting.shape is DivergenceShape.ARM and not parting.here.hidden and _asked_here(parting)
    return direct or _is_told_to_stop(parting) or _own_file(parting, project)


def _is_told_to_stop(parting: DivergentBranch) -> bool:
    """Whether a round of a loop is the last where a file is there: `if flag.exists(): break`."""
    test, asked = getattr(parting.decision, "test", None), parting.taint.syntax if parting.taint is not None else None
    if parting.shape is not DivergenceShape.EXIT or not isinstance(parting.exit, (ast.Break, ast.Return)):
        return False
    if isinstance(test, ast.UnaryOp) or not isinstance(asked, ast.Call):
        return False
    in_loop = parting.here.chain[0][0].lineno < parting.line or isinstance(parting.exit, ast.Break)
    return in_loop and last_name(asked.func) in ("exists", "isfile", "is_file")


def _asked_here(parting: DivergentBranch) -> bool:
    """Whether what differs is asked for in the test itself."""
    test, syntax = getattr(parting.decision, "test", None), parting.taint.syntax if parting.taint is not None else None
    return test is not None and any(node is syntax for node in walk(test))


def _own_file(parting: DivergentBranch, project: Project) -> bool:
    """Whether the file that is looked for is another one on each rank."""
    syntax, tests = parting.taint.syntax if parting.taint is not None else None, RankPredicates(project)
    values = list(syntax.args) if isinstance(syntax, ast.Call) else []
    values += [
        made for one in values if isinstance(one, ast.Name) for made in parting.function.assigned.get(one.id, ())
    ]
    return any(tests.differs(node, parting.function) for value in values for node in walk(value)
               if isinstance(node, ast.expr))  # fmt: skip
