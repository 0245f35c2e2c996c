"""Ranks that part by a file: where each has one of its own, or sees the one of all in another round."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch

_DEPTH = 4  # calls, down from a loop


def decides_by_a_file(parting: DivergentBranch, project: Project) -> bool:
    """Whether it is likely that ranks see files differently where they part."""
    direct = parting.shape is DivergenceShape.ARM and not parting.here.hidden and _asked_here(parting)
    return direct or _is_told_to_stop(parting, project) or _own_file(parting, project)


def _is_told_to_stop(parting: DivergentBranch, project: Project) -> bool:
    """Whether a round of a loop is the last where a file is there: `if flag.exists(): break`."""
    test, asked = getattr(parting.decision, "test", None), parting.taint.syntax if parting.taint is not None else None
    if parting.shape is not DivergenceShape.EXIT or not isinstance(parting.exit, (ast.Break, ast.Return)):
        return False
    if isinstance(test, ast.UnaryOp) or not isinstance(asked, ast.Call):
        return False
    in_loop = parting.here.chain[0][0].lineno < parting.line or isinstance(parting.exit, ast.Break)
    looks = last_name(asked.func) in ("exists", "isfile", "is_file")
    return in_loop and looks and _is_asked_again(asked, parting, project)


def _is_asked_again(asked: ast.Call, parting: DivergentBranch, project: Project) -> bool:
    """Whether each round looks for the file: one that is looked for once, before the loop, is there for all or none."""
    around: ast.AST | None = parting.exit
    parents = project.file_with(parting.function).parents
    while around is not None and not isinstance(around, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)):
        around = parents.get(around)
    if not isinstance(around, (ast.For, ast.While)):
        return True  # whoever calls it goes round
    waiting: list[tuple[ast.AST, Function, int]] = [(around, parting.function, _DEPTH)]
    seen: set[int] = set()
    while waiting:
        block, function, depth = waiting.pop()
        for node in walk(block):
            if node is asked:
                return True
            for target in _entered(node, function, project) if depth else ():
                if id(target) not in seen:
                    seen.add(id(target))
                    waiting.append((target.syntax, target, depth - 1))
    return False


def _entered(node: ast.AST, function: Function, project: Project) -> list[Function]:
    """Returns the functions of the project that an expression runs: those it calls, and properties that it reads."""
    if isinstance(node, ast.Call):
        return list(project.targets(node, function))
    return list(project.getters(node, function)) if isinstance(node, ast.Attribute) else []


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
