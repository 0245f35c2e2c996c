"""The counter of an early stopping counts all evaluations without a new best, and not those in a row.

What it does: flags a counter that is raised where a value is no better than the best one, that ends the training when
it is high enough, and that the branch which keeps a new best does not set back to 0.

Why it matters: patience means so many evaluations in a row. Here each bad one counts for ever: a training whose metric
wavers is stopped while it still improves, and it says that the metric had become stable.

Bad:

    if loss < self.best:
        self.best = loss
    else:
        self.waited += 1

Good:

    if loss < self.best:
        self.best = loss
        self.waited = 0
    else:
        self.waited += 1

What it cannot see: counters that another object keeps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A123"
NAME = "patience-never-set-back"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-schedule"
CHECKLIST = "a new best sets the patience back"
_TRAINS = re.compile(r"epoch|loss|metric|eval|torch|score|model", re.IGNORECASE)
_STOPS = re.compile(r"stop|exit|finish|terminate|done", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the counters that only rise."""
    if file.is_test or "+=" not in file.text or not _TRAINS.search(file.text):
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.If):
            assert isinstance(node, ast.If)  # noqa: S101 (asked for by kind)
            for better, worse in _arms(node, file):
                best = _kept(node.test, better)
                raised = _raised(worse) if best is not None else None
                if best is None or raised is None or ast.unparse(raised.target) == ast.unparse(best.targets[0]):
                    continue
                counter = ast.unparse(raised.target)
                stop = _stops(counter, raised, function, project)
                if stop is not None and not _is_set_back(raised, function, node, project):
                    yield violation(
                        file,
                        best,
                        f"a new best does not set {counter} back: it counts all evaluations without one, not those in "
                        "a row, and stops a training that still improves",
                        f"{counter} = 0",
                        steps=(
                            step(file, raised, "raised by each evaluation that is no better"),
                            step(file, stop, "and asked here whether it is enough"),
                        ),
                        confidence=Confidence.LIKELY,
                    )
                    break


def _arms(node: ast.If, file: ProjectFile) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    """Yields (what is done in one arm of a test, what is done in the other one only)."""
    if node.orelse:
        yield node.body, node.orelse
        yield node.orelse, node.body
    elif isinstance(node.body[-1], (ast.Return, ast.Continue)):
        parent = file.parents.get(node)
        block = next((held for held in (getattr(parent, "body", None), getattr(parent, "orelse", None))
                      if isinstance(held, list) and any(one is node for one in held)), None)  # fmt: skip
        if block is not None:
            yield node.body, block[next(at for at, one in enumerate(block) if one is node) + 1 :]


def _kept(test: ast.expr, body: list[ast.stmt]) -> ast.Assign | None:
    """Returns the statement of an arm that keeps the new best: it sets one side of the comparison to the other."""
    for one in body:
        if not isinstance(one, ast.Assign) or len(one.targets) != 1 or isinstance(one.value, ast.Constant):
            continue
        best = ast.unparse(one.targets[0])
        value = _names(one.value) - {best}
        for part in ast.walk(test):
            orders = isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE))
            changed = any(isinstance(each, ast.BinOp) for each in ast.walk(one.value))
            if orders and not changed and best in _names(part) and value & _names(part):
                return one
    return None


def _names(value: ast.AST) -> set[str]:
    """Returns the texts of the names, attributes and items in a value."""
    return {ast.unparse(one) for one in ast.walk(value) if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))}


def _raised(body: list[ast.stmt]) -> ast.AugAssign | None:
    """Returns the one statement of an arm that counts."""
    for one in body:
        if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and ast.unparse(one.value) == "1":
            return one if isinstance(one.target, (ast.Name, ast.Attribute)) else None
    return None


def _stops(counter: str, raised: ast.AugAssign, function: Function, project: Project) -> ast.AST | None:
    """Returns the test of the counter that ends the training."""
    where = [function]
    if isinstance(raised.target, ast.Attribute) and (kind := project.class_of(function)) is not None:
        where = [one for one in project.functions_in(project.file_with(function)) if project.class_of(one) is kind]
    for one in where:
        for node in one.nodes_of((ast.If, ast.Return, ast.Assign)):
            asked = node.test if isinstance(node, ast.If) else node.value  # type: ignore[attr-defined]
            if asked is None or not any(
                isinstance(part, ast.Compare) and ast.unparse(part.left) == counter
                and isinstance(part.ops[0], (ast.Gt, ast.GtE, ast.Eq)) and "%" not in ast.unparse(part)
                for part in ast.walk(asked)
            ):  # fmt: skip
                continue
            if isinstance(node, ast.If) and any(_ends(part) for part in node.body):
                return node
            if isinstance(node, ast.Assign) and _STOPS.search(ast.unparse(node.targets[0])):
                return node
            if isinstance(node, ast.Return) and (_STOPS.search(one.name) or _ends_callers(one, project)):
                return node
    return None


def _ends_callers(function: Function, project: Project) -> bool:
    """Whether a caller asks what a function says and ends by it: `if patience.over(loss): break`."""
    return any(
        isinstance(node, ast.If) and any(part is call for part in ast.walk(node.test)) and any(map(_ends, node.body))
        for call, caller in project.callers(function)[:6]
        for node in caller.nodes_of(ast.If)
    )


def _ends(statement: ast.stmt) -> bool:
    for one in ast.walk(statement):
        if isinstance(one, (ast.Break, ast.Raise)):
            return True
        if isinstance(one, ast.Return) and isinstance(one.value, ast.Constant) and one.value.value is True:
            return True
        if isinstance(one, ast.Assign) and _STOPS.search(ast.unparse(one.targets[0])):
            return True
        if isinstance(one, ast.Call) and _STOPS.search(last_name(one.func)):
            return True
    return False


def _is_set_back(raised: ast.AugAssign, function: Function, node: ast.If, project: Project) -> bool:
    """Whether anything sets the counter anew but what makes it."""
    target = raised.target
    if isinstance(target, ast.Attribute):
        set_in = [where for _, where in project.attributes.get(target.attr, ())]
        made = [one for one in set_in if one.name.endswith("__init__")]
        return len(made) != 1 or len(set_in) != 1
    values = function.assigned.get(target.id, []) if isinstance(target, ast.Name) else []
    if len(values) != 1 or (function.name == "<module>" and any(
        isinstance(one, ast.Global) and target.id in one.names  # type: ignore[union-attr]
        for each in project.functions for one in each.nodes_of(ast.Global)
    )):  # fmt: skip
        return True
    loop = _outer_loop(node, project.file_with(function))
    return loop is None or any(one is values[0] for one in ast.walk(loop))


def _outer_loop(node: ast.AST, file: ProjectFile) -> ast.AST | None:
    """Returns the innermost loop around a test."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(outer, (ast.For, ast.While)):
            return outer
        outer = file.parents.get(outer)
    return None
