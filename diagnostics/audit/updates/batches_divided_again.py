"""The length of a loader, a number of batches, is divided by the batch size once more.

What it does: flags `len(loader) ... / batch_size`, where the loader's own batch size is meant, also through names.

Why it matters: `len(loader)` counts batches already. A warm-up, a schedule or an interval that follows from the
quotient is shorter than meant by the factor of the batch size; a larger batch makes it shorter still.

Bad:

    warmup_steps = int(len(loader) * epochs / batch_size * 0.1)

Good:

    warmup_steps = int(len(loader) * epochs * 0.1)

What it cannot see: loaders that other packages make.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import LOADER

CODE = "A122"
NAME = "batches-divided-again"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-schedule"
WORDS = ("len",)
CHECKLIST = "the length of a loader is taken as a number of batches"
_DEPTH = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the quotients."""
    for function in () if file.is_test else project.functions_in(file):
        for node in function.nodes_of(ast.BinOp):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Div, ast.FloorDiv)):
                continue
            made = _counted(node.left, function, project, _DEPTH)
            if made is None:
                continue
            size = _batch_size(made[0])
            divisor = next((one for one in _factors(node.right) if size is not None
                            and _is_same((one, function), (size, made[1]), project)), None)  # fmt: skip
            if divisor is not None and size is not None:
                yield violation(
                    file,
                    node,
                    f"the length of a loader counts batches of {ast.unparse(size)}, and is divided by "
                    f"{ast.unparse(divisor)} once more",
                    f"leave out '/ {ast.unparse(divisor)}'",
                    steps=(step(project.file_with(made[1]), made[0], "the loader, which gives batches of that size"),),
                    confidence=Confidence.LIKELY,
                )


def _factors(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        yield from _factors(value.left)
        yield from _factors(value.right)
    else:
        yield value


def _counted(value: ast.expr, function: Function, project: Project, depth: int) -> tuple[ast.Call, Function] | None:
    """Returns the DataLoader whose length is a factor of a value."""
    if not depth:
        return None
    if isinstance(value, ast.BinOp):
        if not isinstance(value.op, ast.Mult):
            return None
        left = _counted(value.left, function, project, depth - 1)
        return left if left is not None else _counted(value.right, function, project, depth - 1)
    if isinstance(value, ast.Call) and project.name(value.func, function) in ("len", "float", "int") and value.args:
        if project.name(value.func, function) != "len":
            return _counted(value.args[0], function, project, depth - 1)
        made = origins(value.args[0], function, project)
        one = made[0] if len(made) == 1 else None
        loads = one is not None and isinstance(one[0], ast.Call) and project.name(one[0].func, one[1]) == LOADER
        return (one[0], one[1]) if loads and one is not None and isinstance(one[0], ast.Call) else None
    if isinstance(value, ast.Name):
        held = origins(value, function, project)
        if len(held) == 1 and held[0][0] is not value:
            return _counted(held[0][0], held[0][1], project, depth - 1)
    return None


def _batch_size(loader: ast.Call) -> ast.expr | None:
    named = next((one.value for one in loader.keywords if one.arg == "batch_size"), None)
    return named if named is not None else loader.args[1] if len(loader.args) > 1 else None


def _is_same(one: Origin, other: Origin, project: Project) -> bool:
    """Whether two values are one and the same: one name, one setting, one expression behind two names."""
    if isinstance(one[0], ast.Constant) or isinstance(other[0], ast.Constant):
        return False
    if ast.unparse(one[0]) == ast.unparse(other[0]):
        return True
    left, right = origins(*one, project), origins(*other, project)
    if any(first is second for first, _ in left for second, _ in right):
        return True
    if isinstance(one[0], ast.Attribute) and isinstance(other[0], ast.Attribute) and one[0].attr == other[0].attr:
        bases = [{(ast.unparse(made), where) for made, where in origins(each[0].value, each[1], project)}
                 for each in ((one[0], one[1]), (other[0], other[1]))]  # fmt: skip
        if len(bases[0]) == 1 and bases[0] == bases[1]:
            return True
    texts = {ast.unparse(first) for first, _ in left if isinstance(first, (ast.Attribute, ast.Subscript))}
    return len(left) == len(right) == 1 and ast.unparse(right[0][0]) in texts
