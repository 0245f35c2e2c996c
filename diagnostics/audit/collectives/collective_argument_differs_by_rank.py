"""A collective whose root, operator or group comes to something else on another rank.

What it does: works out `src`, `dst`, `op` and `group` of collectives for several ranks and flags those that differ:
the rank itself as root, a root read off what only this rank knows, MAX on one rank and SUM on the others, the whole
world on one rank and a smaller group on the rest. Roots within a group of their own, and messages between two ranks,
are left alone.

Why it matters: ranks that name other roots wait for each other, or each keeps its own data and takes it for that of the
root. Operators that differ give wrong numbers without any error.

Bad:

    dist.broadcast(weights, src=dist.get_rank())

Good:

    dist.broadcast(weights, src=0)

What it cannot see: roots that are computed from data in another way than by a container of which each rank fills its
own place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, is_world, operation_calls, under_rank_test
from diagnostics.static.spmd.per_rank_slots import own_place

CODE = "A215"
NAME = "collective-argument-differs-by-rank"
SEVERITY = Severity.ERROR
WORDS = (*operations.COLLECTIVES, "ReduceOp")
CHECKLIST = "root, operator and group of a collective are the same on all ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the collectives whose arguments differ, and the choices of an operator by the rank."""
    tests = RankPredicates(project)
    for one in operation_calls(file, project):
        if one.op in operations.POINT_TO_POINT or under_rank_test(one.call, one.function, file, tests):
            continue
        if one.op in operations.ROOTED and not one.grouped:
            yield from _root(one, file, project)
        if one.op in operations.REDUCING:
            yield from _operator(one, file, tests)
        yield from _group(one, file, project, tests)
    if "ReduceOp" in file.words:
        yield from _chosen_operators(file, project, tests)


def _root(one: CollectiveCallSite, file: ProjectFile, project: Project) -> Iterator[Violation]:
    name = operations.ROOTED[one.op]
    value = one.argument(name)
    if value is None:
        return
    if _others_elsewhere(one, file):
        return
    found = ConcreteEvaluator(project).differs(value, one.function)
    if found is not None:
        first, here, last, there = found
        yield violation(
            file, one.call,
            f"{name}={ast.unparse(value)} of {one.op}() is {here} on rank {first.rank} and {there} on rank "
            f"{last.rank}: ranks that name other roots wait for each other or keep their own data",
            f"name one root on all ranks: {name}=0, or a rank that was agreed on by all_reduce or broadcast",
        )  # fmt: skip
        return
    if isinstance(value, ast.Constant):
        return
    place = own_place(value, one.function, project)
    if place is not None:
        yield violation(
            file, one.call,
            f"{name}={ast.unparse(value)} of {one.op}() follows from what only this rank knows: each rank may name "
            "another root, and they wait for each other",
            "exchange the values (all_reduce, all_gather) each time before the root is chosen",
            steps=tuple(_place_steps(place.function, place.store, place.skipped, project)),
            confidence=Confidence.LIKELY,
        )  # fmt: skip


def _others_elsewhere(one: CollectiveCallSite, file: ProjectFile) -> bool:
    """Whether the other arm of a test around has the operation with a root of its own: there come the other ranks."""
    inner: ast.AST = one.call
    around = file.parents.get(inner)
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(around, ast.If):
            here = any(node is inner for part in around.body for node in walk(part))
            for node in (inner for part in (around.orelse if here else around.body) for inner in walk(part)):
                if isinstance(node, ast.Call) and last_name(node.func) == one.op:
                    return True
        inner, around = around, file.parents.get(around)
    return False


def _place_steps(
    function: Function, store: ast.AST, skipped: ast.Call | None, project: Project
) -> Iterator[ExplanationStep]:
    file = project.file_with(function)
    yield step(file, store, "each rank fills its own place")
    if skipped is not None:
        yield step(file, skipped, "the exchange is skipped in some rounds")


def _operator(one: CollectiveCallSite, file: ProjectFile, tests: RankPredicates) -> Iterator[Violation]:
    value = one.argument("op")
    choice = _choice(value, one.function, tests) if value is not None else None
    if choice is None:
        return
    test, body, orelse = choice
    if _operators(body) and _operators(orelse) and _operators(body) != _operators(orelse):
        yield violation(
            file, one.call,
            f"op of {one.op}() is {_only(body)} where `{ast.unparse(test)}` and {_only(orelse)} elsewhere: "
            "the result is wrong on every rank, without an error",
            "use one operator on all ranks",
            steps=(step(file, test, "chosen by the rank"),),
        )  # fmt: skip


def _choice(value: ast.expr, function: Function, tests: RankPredicates) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """Returns (test, value, other value) where a value is chosen by a test of the rank."""
    if isinstance(value, ast.IfExp):
        parts = tests.asks(value.test, function) is not None or ConcreteEvaluator(tests.project).parts(
            value.test, function
        )
        return (value.test, value.body, value.orelse) if parts else None
    if not isinstance(value, ast.Name):
        return None
    made = function.assigned.get(value.id, [])
    if len(made) == 1 and isinstance(made[0], ast.IfExp):
        return _choice(made[0], function, tests)
    for node in function.nodes_of(ast.If):
        if isinstance(node, ast.If) and len(made) == 2 and node.orelse and tests.asks(node.test, function) is not None:
            arms = [_assigned_in(block, value.id) for block in (node.body, node.orelse)]
            if arms[0] is not None and arms[1] is not None:
                return node.test, arms[0], arms[1]
    return None


def _assigned_in(block: list[ast.stmt], name: str) -> ast.expr | None:
    for statement in block:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return statement.value
    return None


def _operators(value: ast.AST) -> frozenset[str]:
    """Returns the names of the operators in an expression: {"MAX"} of ReduceOp.MAX."""
    return frozenset(
        node.attr for node in walk(value) if isinstance(node, ast.Attribute) and last_name(node.value) == "ReduceOp"
    )


def _only(value: ast.AST) -> str:
    return " and ".join(sorted(_operators(value))) or "the default"


def _chosen_operators(file: ProjectFile, project: Project, tests: RankPredicates) -> Iterator[Violation]:
    """Yields `Reducer(op=MAX) if rank == 0 else Reducer()`: the same maker, another operator."""
    for function in project.functions_in(file):
        for node in function.own_nodes:
            match node:
                case ast.IfExp(test=test, body=ast.Call() as one, orelse=ast.Call() as other):
                    same = ast.dump(one.func) == ast.dump(other.func)
                    if same and _operators(one) != _operators(other) and tests.asks(test, function) is not None:
                        yield violation(
                            file, node,
                            f"{ast.unparse(one.func)}() is given {_only(one)} where `{ast.unparse(test)}` and "
                            f"{_only(other)} elsewhere: a reduction with operators that differ gives wrong numbers",
                            "use one operator on all ranks",
                        )  # fmt: skip


def _group(one: CollectiveCallSite, file: ProjectFile, project: Project, tests: RankPredicates) -> Iterator[Violation]:
    value = one.argument(operations.GROUP.get(one.op, "group"))
    choice = _choice(value, one.function, tests) if value is not None else None
    if choice is None:
        return
    test, body, orelse = choice
    arms = [_means_world(each, one.function, project) for each in (body, orelse)]
    if arms[0] is not arms[1]:
        where = ast.unparse(test) if arms[0] else f"not ({ast.unparse(test)})"
        yield violation(
            file, one.call,
            f"{one.op}() is over the whole world where `{where}`, over a smaller group elsewhere: the ranks of the "
            "world wait for those that never come",
            "choose the group by what is the same on all of its ranks",
            steps=(step(file, test, "the group is chosen by the rank"),),
        )  # fmt: skip


def _means_world(value: ast.expr, function: Function, project: Project) -> bool:
    if is_world(value):
        return True
    kind = ConcreteEvaluator(project).kind(value, function) if isinstance(value, ast.Attribute) else None
    values = project.class_attributes(kind, value.attr) if kind is not None and isinstance(value, ast.Attribute) else []
    return len(values) == 1 and is_world(values[0][0]) and not isinstance(values[0][0], ast.Constant)
