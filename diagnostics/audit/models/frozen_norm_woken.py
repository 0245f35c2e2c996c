"""Batch norms that were frozen once are woken by the `train()` of each epoch.

What it does: flags a function that puts batch norms into eval mode, or a part of the model that has some and gets no
gradients, and is called before the training alone, where the loop calls `train()` of the whole model, which nothing
overrides.

Why it matters: `train()` reaches every submodule. The frozen batch norms normalize by the batch again and overwrite
their running statistics with each step: what was to stay as it was pretrained drifts, with its weights unchanged.

Bad:

    freeze_norms(model)
    for epoch in range(epochs):
        model.train()

Good:

    for epoch in range(epochs):
        model.train()
        freeze_norms(model)      # or train() of the model, which does so

What it cannot see: models that are frozen by their library, and `train()` in a trainer of another package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.models.frozen_parts import frozen_parts
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A324"
NAME = "frozen-norm-woken"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-mode"
WORDS = (
    "requires_grad",
    "requires_grad_",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "_BatchNorm",
    "SyncBatchNorm",
)
CHECKLIST = "frozen batch norms stay in eval mode"
_MODELS = ("model", "net", "network", "self.model", "self.net")
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the freezing that does not last."""
    for function in () if file.is_test else project.functions_in(file):
        frozen = _freezes(function, project)
        hits = [(frozen, _woken(project.class_of(function), "", file, project))] if frozen is not None else [
            (one.eval_call, _woken(one.kind, one.root, project.file_with(one.where), project, one.where))
            for one in frozen_parts(function, project)
        ]  # fmt: skip
        for call, woken in hits:
            place = _before(call, woken, function, project) if woken is not None else None
            if woken is None or place is None:
                continue
            yield violation(
                file,
                call,
                "the batch norms go into eval mode once, and train() of the whole model switches them back: their "
                "running statistics are overwritten",
                "freeze them behind each train(), or override train() of the model and end it with their eval()",
                steps=(
                    step(project.file_with(place[1]), place[0], "they are frozen here, before the training"),
                    step(project.file_with(woken[1]), woken[0], "and woken here in each epoch"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _before(
    frozen: ast.Call, woken: tuple[ast.Call, Function], function: Function, project: Project
) -> tuple[ast.Call, Function] | None:
    """Returns the call by which something is frozen before the training, and no more in it; None where it lasts."""
    if woken[1] is function:  # in the order of its lines
        loop = innermost_loop(woken[0], function, project.file_with(function))
        return (frozen, function) if loop is not None and frozen.lineno < loop.lineno else None
    calls = _calls(function, project, _DEPTH)
    if not calls and not any(one in function.name for one in ("train", "<lambda>")):
        calls = [(frozen, function)]
    return calls[0] if calls and not _lasts(function, calls, project) else None


def _freezes(function: Function, project: Project) -> ast.Call | None:
    """Returns the call that puts what was found to be a batch norm into eval mode."""
    for node in function.nodes_of(ast.If):
        norm = _norm(node.test) if isinstance(node, ast.If) else ""
        for call in (one for part in node.body for one in walk(part)) if norm and isinstance(node, ast.If) else ():
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if ast.unparse(call.func.value) != norm:
                continue
            if call.func.attr == "eval" or (call.func.attr == "train" and call.args and _is_off(call.args[0], function,
                                                                                               project)):  # fmt: skip
                return call
    return None


def _norm(test: ast.expr) -> str:
    """Returns the name of which a test asks whether it is a batch norm."""
    for node in walk(test):
        asks = isinstance(node, ast.Call) and last_name(node.func) == "isinstance" and len(node.args) == 2
        if asks and isinstance(node, ast.Call) and "BatchNorm" in ast.unparse(node.args[1]):
            return ast.unparse(node.args[0])
    return ""


def _is_off(value: ast.expr, function: Function, project: Project) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is False
    given = project.arguments(value.id, function) if isinstance(value, ast.Name) else ()
    return any(isinstance(one, ast.Constant) and one.value is False for one, _ in given)


def _calls(function: Function, project: Project, depth: int) -> list[tuple[ast.Call, Function]]:
    """Returns the calls that come to a function, of callers of callers too, also by `model.apply(function)`."""
    found = list(project.callers(function))
    name = function.name.rpartition(".")[2]
    for call, where in project.calls_by_name.get("apply", ()):
        if call.args and last_name(call.args[0]) == name and where.file == function.file:
            found.append((call, where))
    for _, caller in tuple(found) if depth else ():
        if caller.name != "<module>":
            found += [one for one in _calls(caller, project, depth - 1) if one not in found]
    return found


def _lasts(function: Function, calls: list[tuple[ast.Call, Function]], project: Project) -> bool:
    """Whether a function is called again and again, or by a train() of the model's own."""
    for call, where in calls:
        name = where.name.rpartition(".")[2]
        if name in ("train", "on_train_epoch_start", "train_epoch", "training_step") or name.startswith("train"):
            return True
        looped = innermost_loop(call, where, project.file_with(where))
        if looped is not None and project.fact(TrainingFunctions).training_call(looped.body, where) is not None:
            return True
    kind = project.class_of(function)
    return function.name.rpartition(".")[2] == "train" or (
        kind is not None and project.method(kind, "train") is not None
    )


def _woken(
    kind: ast.ClassDef | None, root: str, file: ProjectFile, project: Project, names: Function | None = None
) -> tuple[ast.Call, Function] | None:
    """Returns the train() in the loop, of the model of a class, or of what `root` names in a function `names`."""
    around = project.fact(ImportClosures).around(file.shown)
    training = project.fact(TrainingFunctions).training
    for call, where in project.calls_by_name.get("train", ()):
        if where.file not in around or call.args or call.keywords or id(where) not in training:
            continue
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        if base is None or ast.unparse(base) == "self":
            continue
        kinds = list(project.kinds(base, where))
        if any(project.method(one, "train") is not None for one in kinds):
            continue
        named = ast.unparse(base) in _MODELS
        if not (_is_same(root, base, where) if root else kind in kinds or (named and not (kinds and kind is not None))):
            continue
        if root and names is not None and not _comes_from(where, names, project):
            continue  # another program's model of the same name
        if _is_repeated(call, where, project):
            return call, where
    return None


def _comes_from(inner: Function, outer: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a function is another one, or is called by it."""
    callers = project.callers(inner) if depth else ()
    return inner is outer or any(_comes_from(one, outer, project, depth - 1) for _, one in callers)


def _is_same(root: str, base: ast.expr, function: Function) -> bool:
    """Whether two names may be of one model: the same, the wrapped one, or what each calls the model."""
    one, other = (text.removesuffix(".module").removeprefix("self.") for text in (root, ast.unparse(base)))
    if one == other or (one in _MODELS and other in _MODELS):
        return True
    made = function.assigned.get(other, ()) if isinstance(base, ast.Name) else ()
    return any(isinstance(value, ast.Call) and root in map(ast.unparse, value.args) for value in made)


def _is_repeated(call: ast.Call, function: Function, project: Project, depth: int = 2) -> bool:
    if innermost_loop(call, function, project.file_with(function)) is not None:
        return True
    return bool(depth) and any(_is_repeated(one, where, project, depth - 1)
                               for one, where in project.callers(function)[:6])  # fmt: skip
