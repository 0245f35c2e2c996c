"""A value reduced to one rank and then used by all of them.

What it does: flags `dist.reduce(x, dst=0)` where x, or what is computed from it, decides something on every rank: a
branch, a loop, the scheduler, early stopping. CONFIRMED where a rank leaves or meets others in that branch. Uses under
a test of the rank, and a broadcast in between, are right.

Why it matters: after reduce() only the destination holds the result; what the others hold is undefined, as a rule their
own part or an intermediate sum. They decide otherwise, and wait for each other or train on with other settings.

Bad:

    dist.reduce(loss, dst=0)
    if loss < best:
        stop = True

Good:

    dist.all_reduce(loss)
    if loss < best:
        stop = True

What it cannot see: uses in functions that are called with the value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent, is_rank_guarded
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.executed.steps.reduced import goes_by_one_ranks_sum
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import (
    CollectiveCallSite,
    asks_for_rank,
    operation_call,
    operation_calls,
    under_rank_test,
)
from diagnostics.static.spmd.collective_sites import CollectiveSites, SyncKind

CODE = "A211"
NAME = "reduce-where-all-reduce-is-needed"
SEVERITY = Severity.ERROR
RUN_CLASS = "rank-divergence"
WORDS = ("reduce",)
CHECKLIST = "values that every rank uses are reduced on every rank"
_STEERING = re.compile(r"scheduler|early_?stop|plateau|patience", re.IGNORECASE)
_LEAVES = (ast.Return, ast.Break, ast.Continue)
_EVERYWHERE = ("shape", "dtype", "device", "size", "numel", "dim", "ndim")  # known on every rank


@dataclass(frozen=True, slots=True)
class _Use:
    function: Function
    node: ast.AST
    told: str
    parts: bool  # ranks leave or meet others there


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the reductions to one rank whose result steers all of them."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    """Yields those whose result goes through objects and functions before it decides something."""
    for reduced, used in goes_by_one_ranks_sum(execution):
        told = "this schedule follows it" if used.name == ".step" else "a loop is left by it"
        yield violation(
            home(reduced, project),
            reduced.node,
            f"this is reduced to one rank only, and {told} on every rank: the others go by what they had themselves",
            "give it to all: dist.all_reduce, or broadcast it from the destination before it is used",
            steps=(shown(used, project, f"{told} on every rank"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for one in operation_calls(file, project):
        tensor = one.argument("tensor")
        if one.op != "reduce" or one.grouped or not isinstance(tensor, (ast.Name, ast.Attribute)):
            continue
        if one.argument("async_op") is not None or is_rank_guarded(one.call, one.function, project):
            continue
        uses = list(_uses({ast.unparse(tensor)}, one.call.lineno, one.function, project))
        if uses:
            yield _hit(one, max(uses, key=lambda use: use.parts), file, project)


def _hit(one: CollectiveCallSite, use: _Use, file: ProjectFile, project: Project) -> Violation:
    tensor = ast.unparse(one.call.args[0]) if one.call.args else "the tensor"
    return violation(
        file, one.call,
        f"{tensor} is reduced to one rank only, but {use.told} on every rank: the others decide on an undefined value",
        f"give it to all: dist.all_reduce({tensor}, ...), or broadcast it from the destination before it is used",
        steps=(step(project.file_with(use.function), use.node, f"{use.told} on every rank"),),
        confidence=Confidence.CONFIRMED if use.parts else Confidence.LIKELY,
    )  # fmt: skip


def _uses(keys: set[str], line: int, function: Function, project: Project, depth: int = 1) -> Iterator[_Use]:
    """Yields what is decided by the value behind a line, until all ranks have it or it is overwritten."""
    file, tests = project.file_with(function), RankPredicates(project)
    for node in sorted((one for one in function.own_nodes if getattr(one, "lineno", 0) > line), key=_place):
        if isinstance(node, ast.Call) and _is_shared(node, keys, function, project):
            return
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            if _follow_assignment(node, keys):
                return
            continue
        if isinstance(node, ast.AnnAssign) or not _touches(node, keys) or under_rank_test(node, function, file, tests):
            continue
        told = _steers(node, keys, function, project)
        if told:
            yield _Use(function, node, told, isinstance(node, (ast.If, ast.While)) and _parts(node, function, project))
        elif isinstance(node, ast.Return) and depth:
            yield from _uses_of_returned(function, project)


def _uses_of_returned(function: Function, project: Project) -> Iterator[_Use]:
    for call, caller in project.callers(function):
        for node in caller.nodes_of(ast.Assign):
            if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Name):
                yield from _uses({node.targets[0].id}, node.lineno, caller, project, 0)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_shared(call: ast.Call, keys: set[str], function: Function, project: Project) -> bool:
    found = operation_call(call, function, project)
    named = found.op if found is not None else last_name(call.func)
    return named in operations.SHARED and any(_holds(one, keys) for one in call.args)


def _follow_assignment(node: ast.Assign | ast.AnnAssign, keys: set[str]) -> bool:
    """Adds the names that a value is handed on to; whether nothing holds it any more."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    holds = node.value is not None and _holds(node.value, keys)
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            name = ast.unparse(part)
            if holds and isinstance(part, (ast.Name, ast.Attribute)):
                keys.add(name)
            else:
                keys.discard(name)
    return not keys


def _holds(value: ast.AST, keys: set[str]) -> bool:
    """Whether an expression reads the value, and not only its shape."""
    if isinstance(value, ast.Attribute) and value.attr in _EVERYWHERE and ast.unparse(value.value) in keys:
        return False
    if isinstance(value, (ast.Name, ast.Attribute)) and ast.unparse(value) in keys:
        return True
    return any(_holds(child, keys) for child in children(value) if not isinstance(child, ast.Lambda))


def _touches(node: ast.AST, keys: set[str]) -> bool:
    match node:
        case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value):
            return _holds(value, keys)
        case ast.Call() | ast.Return():
            return _holds(node, keys)
        case _:
            return False


def _steers(node: ast.AST, keys: set[str], function: Function, project: Project) -> str:
    """Returns what is decided by the value in words, "" where nothing is."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            asks_for_none = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))
            if asks_for_none or _asks_for_rank(test, keys, function, project):
                return ""
            return f"`{'while' if isinstance(node, ast.While) else 'if'} {ast.unparse(test)}` asks for it"
        case ast.For(iter=ast.Call() as call) if last_name(call.func) == "range":
            return f"it bounds the loop over {ast.unparse(call)}"
        case ast.Call() if _STEERING.search(ast.unparse(node.func)) and any(_holds(one, keys) for one in node.args):
            return f"{ast.unparse(node.func)}() is given it"
        case _:
            return ""


def _asks_for_rank(test: ast.expr, keys: set[str], function: Function, project: Project) -> bool:
    """Whether a test asks for the rank besides the value, also by a name that was set from it."""
    others = [
        node
        for node in walk(test)
        if isinstance(node, ast.Name) and node.id not in keys and not _is_kept_of(node.id, keys, function, project)
    ]
    return any(is_rank_dependent(one, function, project) for one in others) or any(
        asks_for_rank(node, function, RankPredicates(project)) for node in walk(test) if isinstance(node, ast.Attribute)
    )


def _is_kept_of(name: str, keys: set[str], function: Function, project: Project) -> bool:
    """Whether a name holds what the value was in another round, as the best so far does, whoever worked it out."""
    made = function.assigned.get(name, ())
    kept = [one for one in made if _holds(one, keys)]
    return bool(kept) and not any(is_rank_dependent(one, function, project) for one in made if one not in kept)


def _parts(node: ast.If | ast.While, function: Function, project: Project) -> bool:
    communication = project.fact(CollectiveSites)
    for part in (*node.body, *node.orelse):
        for inner in walk(part):
            if isinstance(inner, _LEAVES):
                return True
            if isinstance(inner, ast.Call):
                reach = communication.of_call(inner, function)
                if reach is not None and reach.sure and reach.meeting is not SyncKind.PEER:
                    return True
    return False
