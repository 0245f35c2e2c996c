"""Weights are tied in a constructor on the meta device, and `to_empty()` takes them apart.

What it does: flags `to_empty()` of a model whose constructor has two modules share a weight, where nothing ties them
again behind it.

Why it matters: `to_empty()` makes a new parameter for each module that has one. Embedding and head are two
matrices from then on, initialised and trained apart: more parameters, and another model than the configuration says.

Bad:

    with torch.device("meta"):
        model = GPT()  # self.wte.weight = self.lm_head.weight
    model.to_empty(device="cuda")

Good:

    model.to_empty(device="cuda")
    model.tie_weights()

What it cannot see: models of other packages, and weights that a loaded checkpoint ties.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A328"
NAME = "tied-before-to-empty"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("to_empty",)
CHECKLIST = "weights are tied behind to_empty()"
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls that take weights apart."""
    for call, function in () if file.is_test else project.calls_in(file):
        if last_name(call.func) != "to_empty" or not isinstance(call.func, ast.Attribute):
            continue
        tied = _tied(call.func.value, function, project)
        if tied is None or _ties_behind(call, function, project, 2):
            continue
        node, where = tied
        yield violation(
            file,
            call,
            "to_empty() makes a parameter of its own for each module: the weights that the constructor has tied are "
            "two from here on",
            "tie them again behind to_empty()",
            steps=(step(project.file_with(where), node, "tied while the model is made"),),
            confidence=Confidence.LIKELY,
        )


def _tied(model: ast.expr, function: Function, project: Project) -> tuple[ast.Assign, Function] | None:
    """Returns where the constructor of a model, or of a part of it, ties two weights."""
    waiting = list(project.kinds(model, function))
    if (
        isinstance(model, ast.Name) and model.id in function.parameters
    ):  # `model = model.to_empty()` gives a parameter a value of its own
        waiting += [
            one for value, where in project.arguments(model.id, function) for one in project.kinds(value, where)
        ]
    seen: set[int] = set()
    while waiting and len(seen) < 20:
        kind = waiting.pop(0)
        if id(kind) in seen:
            continue
        seen.add(id(kind))
        made = next((one for one in project.functions if one.owner is kind and one.name.endswith("__init__")), None)
        found = _ties(made, project, _DEPTH) if made is not None else None
        if found is not None:
            return found
        for value, where in project.attributes_of(kind):
            waiting += project.kinds(value, where) if isinstance(value, ast.Call) else ()
    return None


def _ties(function: Function, project: Project, depth: int) -> tuple[ast.Assign, Function] | None:
    """Returns `a.weight = b.weight` in a function, or in what it calls on itself."""
    for node in function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            target, other = node.targets[0], node.value
            if (
                isinstance(target, ast.Attribute)
                and target.attr == other.attr == "weight"
                and _are_parts(target, other)
            ):
                return node, function
    for call in function.nodes_of(ast.Call) if depth else ():
        for one in project.targets(call, function) if isinstance(call, ast.Call) else ():
            if not one.name.endswith("__init__") and (found := _ties(one, project, depth - 1)) is not None:
                return found
    return None


def _are_parts(*values: ast.Attribute) -> bool:
    """Whether weights are those of several modules: `self.head.weight`, and not `self.weight`."""
    owners = {ast.unparse(one.value) for one in values}
    return len(owners) == len(values) and "self" not in owners


def _ties_behind(call: ast.Call, function: Function, project: Project, depth: int) -> bool:
    """Whether something ties weights behind a call, there or where its function is called."""
    file = project.file_with(function)
    for node in function.nodes_of((ast.Call, ast.Assign)):
        if getattr(node, "lineno", 0) <= call.lineno:
            continue
        if isinstance(node, ast.Call) and _may_tie(node, function, project):
            return True
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".weight"):
            return True
    loops = any(isinstance(one, (ast.For, ast.While)) for one in _outer(call, file))
    return loops or (bool(depth) and any(
        _ties_behind(one, where, project, depth - 1) for one, where in project.callers(function)[:6]
    ))  # fmt: skip


def _may_tie(call: ast.Call, function: Function, project: Project) -> bool:
    if "tie" in last_name(call.func).lower():
        return True
    targets = project.targets(call, function)
    return any(_ties(one, project, _DEPTH) is not None for one in targets if not one.name.endswith("__init__"))


def _outer(node: ast.AST, file: ProjectFile) -> Iterator[ast.AST]:
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield outer
        outer = file.parents.get(outer)
