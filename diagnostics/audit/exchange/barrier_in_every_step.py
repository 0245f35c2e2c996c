"""A barrier in every step of a training loop.

What it does: advises where each round of a loop that steps an optimizer comes to dist.barrier(), monitored_barrier() or
wait_for_everyone(), also in a function that the loop calls.

Why it matters: DDP and FSDP make the ranks meet in backward as it is. A barrier makes them meet once more for nothing,
so that each step takes as long as its slowest rank's loading, logging and counting, too; over NCCL it also keeps the
CPU from queueing work ahead. Where it was put in against a hang, it hides which call the ranks disagree about.

Bad:

    for x, y in loader:
        loss = ddp(x, y)
        loss.backward()
        optimizer.step()
        dist.barrier()

Good:

    for x, y in loader:
        loss = ddp(x, y)
        loss.backward()
        optimizer.step()
    dist.barrier()  # and here only where a rank then reads what another one has written

What it cannot see: what a step costs; `ups-doctor perf` can. It is silent where the barrier stands beside a clock that
is read, or behind what some ranks do and the others wait for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_call
from diagnostics.static.torch_code.training_functions import is_step

CODE = "A226"
NAME = "barrier-in-every-step"
SEVERITY = Severity.INFO
_BARRIERS = ("barrier", *operations.MONITORED)
WORDS = (*_BARRIERS, "wait_for_everyone")
_CLOCKS = ("time", "perf_counter", "monotonic", "perf_counter_ns", "process_time", "synchronize", "elapsed_time")
_SOMETIMES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.ExceptHandler, ast.Match, ast.Lambda)
_DEPTH = 2  # functions between the loop and the barrier, or the optimizer's step


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the barriers that each step comes to."""
    for call, function in project.calls_in(file):
        if not _is_barrier(call, function, project) or _is_meant(call, function, file, project):
            continue
        way = _way_from_loop(call, function, project)
        if way is not None:
            yield violation(
                file, call,
                f"{ast.unparse(call.func)}() in every step makes all ranks wait for the slowest once more",
                "leave it out: backward of a wrapped model makes the ranks meet; or wait behind the loop",
                steps=way, confidence=Confidence.LIKELY,
            )  # fmt: skip


def _is_barrier(call: ast.Call, function: Function, project: Project) -> bool:
    found = operation_call(call, function, project)
    if found is not None:
        return found.op in _BARRIERS and found.argument("async_op") is None
    return last_name(call.func) == "wait_for_everyone"


def _is_meant(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> bool:
    """Whether a time is taken at the barrier, or some ranks do something before it."""
    statement = file.parents.get(call)
    block = next(
        (block for name in ("body", "orelse", "finalbody")
         if isinstance(block := getattr(file.parents.get(statement), name, None), list) and statement in block),
        [],
    ) if isinstance(statement, ast.Expr) else []  # fmt: skip
    if not block:
        return False
    at = block.index(statement)
    beside = [*block[max(at - 1, 0) : at], *block[at + 1 : at + 2]]
    if any(isinstance(node, ast.Call) and last_name(node.func) in _CLOCKS for one in beside for node in walk(one)):
        return True
    return any(isinstance(one, ast.If) and is_rank_dependent(one.test, function, project) for one in block[:at])


def _way_from_loop(
    call: ast.Call, function: Function, project: Project, depth: int = _DEPTH
) -> tuple[ExplanationStep, ...] | None:
    """Returns how each round of a training loop comes to a call, None where none does."""
    file = project.file_with(function)
    below: ast.AST = call
    around = file.parents.get(below)
    while around is not None and below is not function.syntax:
        if isinstance(around, _SOMETIMES):
            return None
        if isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
            if below not in around.body or not _steps(around.body, function, project):
                return None
            return (step(file, around, "each round of this loop steps an optimizer"),)
        below, around = around, file.parents.get(around)
    if not depth or function.name == "<module>":
        return None
    for outer, caller in project.callers(function):
        way = _way_from_loop(outer, caller, project, depth - 1)
        if way is not None:
            return (*way, step(project.file_with(caller), outer, f"and calls {last_name(outer.func)}()"))
    return None


def _steps(block: list[ast.stmt], function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a block steps an optimizer, itself or through what it calls, and not in a loop of its own."""
    for node in _outside_of_loops(block):
        if not isinstance(node, ast.Call):
            continue
        if is_step(node) and last_name(node.func) == "step":
            return True
        for target in project.targets(node, function) if depth else ():
            body = getattr(target.syntax, "body", None)
            if isinstance(body, list) and _steps(body, target, project, depth - 1):
                return True
    return False


def _outside_of_loops(block: list[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [*block]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            yield node
            waiting += children(node)
