"""A choice has the same in both arms, or the weights that are exempt from decay are never collected.

What it does: flags `a if condition else a`, `if ...: group.append(p)` with the same in its `else`, in a program that
trains; and a parameter group with `weight_decay` 0 whose list nothing is ever put into.

Why it matters: a slip of the pen that no test shows. Biases, norms and embeddings that are declared exempt are decayed
with the rest; the model trains, a little worse than it could.

Bad:

    (decay if needs_decay else decay).append(parameter)

Good:

    (decay if needs_decay else no_decay).append(parameter)

What it cannot see: arms that differ in their text and not in what they do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A323"
NAME = "choice-of-one"
SEVERITY = Severity.WARNING
CHECKLIST = "both arms of a choice differ"
_TRAINS = frozenset(["backward", "optim", "optimizer", "named_parameters"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the choices that choose nothing, and the groups that stay empty."""
    if file.is_test or not project.fact(ImportClosures).words(file.shown) & _TRAINS:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of((ast.IfExp, ast.If)):
            if _is_alike(node):
                test = ast.unparse(node.test)[:40]  # type: ignore[attr-defined]
                yield violation(
                    file,
                    node,
                    f"both arms are the same: '{test}' decides nothing here",
                    "write into one arm what it was meant to have",
                    confidence=Confidence.LIKELY,
                )
        yield from _empty(function, file)


def _is_alike(node: ast.AST) -> bool:
    """Whether two arms are the same, and no constants or passes, which a reader may want to see twice."""
    if isinstance(node, ast.IfExp):
        constant = isinstance(node.body, ast.Constant)
        return not constant and ast.dump(node.body) == ast.dump(node.orelse)
    if not isinstance(node, ast.If) or len(node.body) != 1 or len(node.orelse) != 1:
        return False
    one = node.body[0]
    collects = (
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and isinstance(one.value.func, ast.Attribute)
    )
    collects = collects and one.value.func.attr in ("append", "add", "extend")  # type: ignore[attr-defined]
    return collects and ast.dump(one) == ast.dump(node.orelse[0])


def _empty(function: Function, file: ProjectFile) -> Iterator[Violation]:
    """Yields the groups without decay that get no weight."""
    for node in function.nodes_of(ast.Dict):
        if not isinstance(node, ast.Dict):
            continue
        keys = {one.value: value for one, value in zip(node.keys, node.values, strict=True)
                if isinstance(one, ast.Constant)}  # fmt: skip
        held, decay = keys.get("params"), keys.get("weight_decay")
        off = isinstance(decay, ast.Constant) and decay.value == 0
        if not off or not isinstance(held, ast.Name) or held.id in function.parameters:
            continue
        made = function.assigned.get(held.id, [])
        if len(made) != 1 or not (isinstance(made[0], ast.List) and not made[0].elts):
            continue
        uses = [one for one in walk(function.syntax) if isinstance(one, ast.Name) and one.id == held.id]
        added = any(isinstance(file.parents.get(one), ast.AugAssign) for one in uses)
        if not added and all(isinstance(one.ctx, ast.Store) or one is held or _is_counted(one, file) for one in uses):
            yield violation(
                file,
                held,
                f"nothing is ever put into '{held.id}': what was to be exempt from weight decay is decayed with the "
                "rest, or is not trained at all",
                f"{held.id}.append(parameter) where the weights are told apart",
                steps=(step(file, made[0], "it is made empty here"),),
                confidence=Confidence.LIKELY,
            )


def _is_counted(use: ast.Name, file: ProjectFile) -> bool:
    outer = file.parents.get(use)
    return isinstance(outer, ast.Call) and ast.unparse(outer.func) in ("len", "print", "sum")
