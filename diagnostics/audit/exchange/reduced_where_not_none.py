"""Gradients are reduced one by one where they are not None, and the data decide which of them are.

What it does: flags a collective for each parameter of a loop that is left out where `p.grad` is None, also for those of
a list made with that test, where the model's forward uses a part in some steps only: an expert to which no token went,
a head for samples of one kind.

Why it matters: a part that a rank's batch did not use has no gradient there, and that rank leaves its collectives out.
The ranks then reduce gradients of different parameters with each other, or wait for ever.

Bad:

    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)

Good:

    for p in model.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)

What it cannot see: parts that the training loop chooses, and models that other packages make.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_calls
from diagnostics.static.torch_code.conditional_submodules import ConditionalUse, changing_branches
from diagnostics.static.torch_code.submodules import classes_inside

CODE = "A231"
NAME = "reduced-where-not-none"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "every rank reduces the same gradients"
_PARAMETERS = ("parameters", "named_parameters")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests that leave a collective out."""
    if file.is_test or "grad" not in file.words:
        return
    for one in operation_calls(file, project):
        loop = _loop_around(one.call, file) if one.op in operations.MEETINGS else None
        if loop is None:
            continue
        over, test = _tested(loop, one.call, one.function, file)
        for model in _models(over) if over is not None and test is not None else ():
            used = _changing(model, one.function, project)
            if used is not None and test is not None:
                yield violation(
                    file,
                    test,
                    f"{one.op} is left out for what has no gradient, and {used.why} whether {_owner(used)}'s forward "
                    f"uses self.{used.part.name}: ranks whose batches differ reduce different gradients with each "
                    "other, or wait for ever",
                    "p.grad = torch.zeros_like(p) where it is None, and the collective for every parameter",
                    steps=(
                        step(project.file_with(used.function), used.branch, f"{used.why} here which parts are used"),
                        step(file, one.call, "one collective for each that has a gradient"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _owner(used: ConditionalUse) -> str:
    return used.part.owner.name


def _loop_around(node: ast.AST, file: ProjectFile) -> ast.For | None:
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(outer, ast.For):
            return outer
        outer = file.parents.get(outer)
    return None


def _tested(
    loop: ast.For, call: ast.Call, function: Function, file: ProjectFile
) -> tuple[ast.expr | None, ast.expr | None]:
    """Returns what a loop goes through, and the test by which a round is without the call, (None, None) for others."""
    inner: ast.AST = call
    outer = file.parents.get(call)
    while outer is not None:
        if isinstance(outer, ast.If) and inner in outer.body and _asks(outer.test, ast.IsNot):
            return loop.iter, outer.test
        block = getattr(outer, "body", None)
        for one in block[: block.index(inner)] if isinstance(block, list) and inner in block else ():
            leaves = isinstance(one, ast.If) and any(isinstance(each, ast.Continue) for each in one.body)
            if isinstance(one, ast.If) and leaves and _asks(one.test, ast.Is):
                return loop.iter, one.test
        if outer is loop:
            break
        inner, outer = outer, file.parents.get(outer)
    made = function.assigned.get(loop.iter.id, []) if isinstance(loop.iter, ast.Name) else [loop.iter]
    for value in made if len(made) == 1 else ():
        for clause in value.generators if isinstance(value, (ast.ListComp, ast.GeneratorExp)) else ():
            test = next((one for one in clause.ifs if _asks(one, ast.IsNot)), None)
            if test is not None:
                return clause.iter, test
    return None, None


def _asks(test: ast.expr, how: type[ast.cmpop]) -> bool:
    """Whether a test is, or holds as one of several that must be so, `p.grad is None` or its contrary."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(
        isinstance(one, ast.Compare)
        and isinstance(one.left, ast.Attribute)
        and one.left.attr == "grad"
        and isinstance(one.ops[0], how)
        and isinstance(one.comparators[0], ast.Constant)
        and one.comparators[0].value is None
        for one in parts
    )


def _models(over: ast.expr) -> Iterator[ast.expr]:
    """Yields the models whose parameters are gone through."""
    for one in walk(over):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _PARAMETERS:
            yield one.func.value


def _changing(model: ast.expr, function: Function, project: Project) -> ConditionalUse | None:
    """Returns a branch in which a model's forward uses a part in some steps only."""
    for whole in project.kinds(model, function):
        for kind in {id(one): one for one in classes_inside(whole, project)}.values():
            found = next(iter(changing_branches(kind, project)), None)
            if found is not None:
                return found
    return None
