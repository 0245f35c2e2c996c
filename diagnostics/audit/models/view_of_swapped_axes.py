"""Axes of a tensor are given another order by view() or reshape(), which only permute() can do.

What it does: flags `x.view(n, t, c * f)` and x.reshape() where `n, c, t, f = x.shape` stands before it and x is the
same: each size is used once, and they come in another order, taken one by one or multiplied together.

Why it matters: the numbers stay where they are and only the sizes are read anew. What is called a frame then holds
pieces of several frames of one channel. Nothing fails, the model learns something, and less than it could.

Bad:

    n, c, t, f = x.shape
    x = x.view(n, t, c * f)

Good:

    x = x.permute(0, 2, 1, 3).reshape(n, t, c * f)

What it cannot see: sizes that are numbers, and einops, which moves the axes itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A386"
NAME = "view-of-swapped-axes"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("view", "reshape")
CHECKLIST = "axes are moved by permute() or transpose(), not by view()"
_OF_TRAINING = frozenset(["forward", "Module", "backward", "DataLoader"])
_LEAST = 3  # of two axes one may be 1, and view(t, n) of a row means what transpose() does
_VIEWS = frozenset(["view", "reshape"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the views in which sizes come in another order than the axes."""
    if file.is_test or file.words.isdisjoint(_OF_TRAINING):
        return
    for function in project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            base = call.func.value
            if call.func.attr not in _VIEWS or not isinstance(base, ast.Name):
                continue
            given = _given(call)
            sizes = _sizes_of(base.id, call, function)
            if sizes is None:
                continue
            names, node = sizes
            groups = [_factors(one) for one in given]
            if any(one is None for one in groups):
                continue
            told = [sorted(one) for one in groups if one]
            if (
                len(names) < _LEAST
                or sorted(name for one in told for name in one) != sorted(names)
                or _in_order(told, names)
            ):
                continue
            order = ", ".join(" * ".join(one) for one in groups if one)
            yield violation(
                file,
                call,
                f"'{base.id}' is ({', '.join(names)}) and is read as ({order}): {call.func.attr}() moves no axis, and "
                "cuts the same numbers into other pieces",
                f"{base.id}.permute(...) into that order first, then reshape()",
                steps=(step(file, node, "its axes are these"),),
                confidence=Confidence.LIKELY,
            )


def _given(call: ast.Call) -> Sequence[ast.expr]:
    """Returns the sizes that a view is given, also as a tuple."""
    if len(call.args) == 1 and isinstance(call.args[0], (ast.Tuple, ast.List)):
        return call.args[0].elts
    return call.args


def _factors(value: ast.expr) -> list[str] | None:
    """Returns the names that a size is a product of; none for 1, None for anything else."""
    if isinstance(value, ast.Name):
        return [value.id]
    if isinstance(value, ast.Constant) and value.value == 1:
        return []
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        left, right = _factors(value.left), _factors(value.right)
        return None if left is None or right is None else [*left, *right]
    return None


def _in_order(groups: Sequence[Sequence[str]], names: Sequence[str]) -> bool:
    """Whether products of sizes come in the order of the axes; within a product the order is of no account."""
    at = 0
    for group in groups:
        if sorted(names[at : at + len(group)]) != list(group):
            return False
        at += len(group)
    return True


def _sizes_of(name: str, call: ast.Call, function: Function) -> tuple[list[str], ast.AST] | None:
    """Returns the names of the sizes of a tensor that is still the same at a call, and where they were taken."""
    found: tuple[list[str], ast.AST] | None = None
    statements = [one for one in function.nodes_of((ast.Assign, ast.AugAssign, ast.For, ast.AnnAssign))
                  if one.lineno <= call.lineno]  # type: ignore[attr-defined]  # fmt: skip
    for node in sorted(statements, key=lambda one: one.lineno):  # type: ignore[attr-defined]
        if call in ast.walk(node) and not isinstance(node, ast.For):
            break
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target  # type: ignore[attr-defined]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign) and isinstance(target, ast.Tuple) and _is_shape_of(value, name):
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            whole = len(names) == len(target.elts) == len(set(names)) and "_" not in names
            found = (names, node) if whole and name not in names else None
            continue
        bound = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
        if found is not None and (name in bound or bound & set(found[0])):
            found = None
    return found


def _is_shape_of(value: ast.expr | None, name: str) -> bool:
    match value:
        case ast.Attribute(value=ast.Name(id=base), attr="shape"):
            return base == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr="size"), args=[]):
            return base == name
    return False
