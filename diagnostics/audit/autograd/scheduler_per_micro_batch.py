"""The learning-rate scheduler steps with every micro-batch, the optimizer with every n-th.

What it does: flags the step of a scheduler that stands beside the test by which gradients are accumulated, and not
under it, where the scheduler's length is counted in optimizer steps.

Why it matters: the schedule ends n times too early: the rate has fallen to its end after a fraction of the training,
and a warm-up that was to take 1,000 steps takes 250. Nothing is raised.

Bad:

    scheduler = CosineAnnealingLR(optimizer, T_max=len(loader) // accumulate)
    for i, batch in enumerate(loader):
        (model(batch).mean() / accumulate).backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()

Good:

        if (i + 1) % accumulate == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()

What it cannot see: lengths that no run tells. Accelerate's prepared scheduler steps with the optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.micro_batches import stepped_by_micro_batch
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A310"
NAME = "scheduler-per-micro-batch"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-schedule"
WORDS = ("lr_scheduler", "CosineAnnealingLR", "OneCycleLR", "LambdaLR", "LinearLR", "StepLR")
_HOME = "torch.optim.lr_scheduler."


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedulers that step more often than their optimizer."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    """Yields those whose length is worked out elsewhere."""
    for stepped, schedule, optimized, guard in stepped_by_micro_batch(execution):
        yield violation(
            home(stepped, project),
            stepped.node,
            "this schedule goes on with every micro-batch, and is counted in steps of the optimizer, which come in "
            "some rounds only: it runs too fast by as much",
            "move it under the test, behind optimizer.step()",
            steps=(
                shown(schedule, project, "the schedule's length is counted in steps of the optimizer"),
                step(project.file_with(guard.function), guard.node, "the optimizer steps under this test"),
                shown(optimized, project, "the optimizer steps here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if "Accelerator" in file.words:
        return
    for function in project.functions_in(file):
        for loop in (
            node for node in function.nodes_of((ast.For, ast.While)) if isinstance(node, (ast.For, ast.While))
        ):
            yield from _in_loop(loop, function, file, project)


def _in_loop(loop: ast.For | ast.While, function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    for gate in (one for one in loop.body if isinstance(one, ast.If)):
        every = _accumulates(gate)
        if every is None:
            continue
        for statement in loop.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not _is_step(call) or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            made = _made(call.func.value, function, project)
            if made is not None and _is_counted_in_steps(made, every, loop):
                yield violation(
                    file,
                    call,
                    f"{ast.unparse(call.func.value)} steps with every micro-batch, and the optimizer only where "
                    f"`{ast.unparse(gate.test)}`: the schedule runs {ast.unparse(every)} times too fast",
                    "move it under the test, behind optimizer.step()",
                    steps=(
                        step(file, made, "the schedule's length is counted here"),
                        step(file, gate, "the optimizer steps under this test"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _is_step(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"


def _accumulates(gate: ast.If) -> ast.expr | None:
    """Returns n of `if (i + 1) % n == 0` under which an optimizer steps, None for another test."""
    steps = any(_is_step(node) for part in gate.body for node in walk(part))
    for node in walk(gate.test) if steps else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return node.right
    return None


def _made(value: ast.expr, function: Function, project: Project) -> ast.Call | None:
    """Returns the call of torch that makes a scheduler."""
    values = [(one, function) for one in function.assigned.get(value.id, ())] if isinstance(value, ast.Name) else []
    if isinstance(value, ast.Attribute):
        values = project.attribute_values(value, function)
    for one, where in values:
        if isinstance(one, ast.Call) and project.name(one.func, where).startswith(_HOME):
            return one
    return None


def _is_counted_in_steps(made: ast.Call, every: ast.expr, loop: ast.For | ast.While) -> bool:
    """Whether the length is divided by n, or the loop goes round n times as often as it is long."""
    name = ast.unparse(every)
    given = [*made.args[1:], *(one.value for one in made.keywords)]
    products = (one for value in given for one in walk(value) if isinstance(one, ast.BinOp))
    # `n // 4 * 4` counts micro-batches again
    undone = {id(one.left) for one in products if isinstance(one.op, ast.Mult) and ast.unparse(one.right) == name}
    divided = any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.FloorDiv, ast.Div))
        and id(node) not in undone
        and any(ast.unparse(part) == name for part in walk(node.right) if isinstance(part, ast.expr))
        for value in given for node in walk(value)
    )  # fmt: skip
    counted = loop.iter if isinstance(loop, ast.For) else None
    if isinstance(counted, ast.Call) and last_name(counted.func) == "range" and counted.args:
        bound = counted.args[-1] if len(counted.args) < 3 else counted.args[1]
        if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Mult):
            parts = {ast.unparse(bound.left), ast.unparse(bound.right)}
            divided = divided or (name in parts and any(ast.unparse(one) in parts - {name} for one in given))
    return divided
