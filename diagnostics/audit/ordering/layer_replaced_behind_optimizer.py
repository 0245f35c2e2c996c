"""Layers are replaced after the optimizer has taken their weights.

What it does: flags, in one function, an optimizer made of `model.parameters()`, whole or in groups, itself or by a
class or function that is given the model, and behind it what puts new layers into the model: `model.fc = nn.Linear()`,
`resize_token_embeddings()`, `get_peft_model()`, a method or function of the project that does so, a pruner that sets
submodules; where training follows and no optimizer is made anew.

Why it matters: the optimizer steps the weights of the layers that are gone. The new ones get gradients and stay as they
are: nothing fails, and the part that was to be trained never changes.

Bad:

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(512, classes)

Good:

    model.fc = nn.Linear(512, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

What it cannot see: models that change their name on the way, and optimizers that are handed the new weights elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.traced_calls import is_optimizer
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A120"
NAME = "layer-replaced-behind-optimizer"
SEVERITY = Severity.ERROR
RUN_CLASS = "gradients-lost"
WORDS = ("optim", "optimizer", "parameters", "setattr", "model")
CHECKLIST = "the optimizer is made after the last layer is put in"
_NEW_WEIGHTS = frozenset(["resize_token_embeddings"])
_ADAPTERS = frozenset(["peft.get_peft_model"])
_MOVES = frozenset(["to", "cuda", "half", "bfloat16", "float", "requires_grad_"])
_MAKE_ANEW = frozenset(["__init__", "forward", "__call__"])
_DEPTH = 2
_MOST = 8  # expressions that the parameters of an optimizer are made of


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the layers that no optimizer steps."""
    for function in () if file.is_test else project.functions_in(file):
        made = [(call, model) for call in _calls(function) for model in _optimizes(call, function, project)]
        for call, model in made[:4]:
            found = next(_replacements(model, call, function, project), None)
            if found is None or _has_another(call, model, made, found, function, file):
                continue
            if not _trains_behind(found, function, project) or _exclude_each_other(call, found, file):
                continue
            yield violation(
                file,
                found,
                f"'{model}' gets new layers here, and the optimizer was made of the old ones: it steps weights that are"
                " no longer the model's, and the new ones never change",
                "make the optimizer behind this line",
                steps=(step(file, call, f"the optimizer takes the weights of '{model}' here"),),
                confidence=Confidence.LIKELY,
            )
            return


def _calls(function: Function) -> list[ast.Call]:
    return [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]


def _optimizes(call: ast.Call, function: Function, project: Project) -> Iterator[str]:
    """Yields the models of whose parameters a call makes an optimizer."""
    if is_optimizer(project.name(call.func, function)):
        yield from _listed(call, function)
        return
    for one in project.targets(call, function):
        names = {
            each for inner in _calls(one) if is_optimizer(project.name(inner.func, one)) for each in _listed(inner, one)
        }
        names -= set(one.assigned)
        for name, value in given(call, one.parameters[one.implied :]):
            if name in names and isinstance(value, (ast.Name, ast.Attribute)):
                yield ast.unparse(value)


def _listed(call: ast.Call, function: Function) -> Iterator[str]:
    """Yields the models whose parameters a call is given, whole or in groups made of them before."""
    first = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "params"), None)
    waiting, seen = [first] if first is not None else [], 0
    while waiting and seen < _MOST:
        seen += 1
        for one in walk(waiting.pop(0)):
            if isinstance(one, ast.Name):
                waiting += function.assigned.get(one.id, ())[:2]
            called = one.func if isinstance(one, ast.Call) else None
            listed = isinstance(called, ast.Attribute) and called.attr in ("parameters", "named_parameters")
            if listed and isinstance(called, ast.Attribute) and isinstance(called.value, (ast.Name, ast.Attribute)):
                yield ast.unparse(called.value)


def _replacements(
    model: str, made: ast.Call | None, function: Function, project: Project, depth: int = _DEPTH
) -> Iterator[ast.AST]:
    """Yields where, behind a call, new layers are put into a model."""
    for node in function.nodes_of((ast.Assign, ast.Call)):
        if made is not None and getattr(node, "lineno", 0) <= (made.end_lineno or 0):
            continue
        if isinstance(node, ast.Assign):
            if any(_is_part(target, model) for target in node.targets) and _is_layer(node.value, function, project):
                yield node
        elif isinstance(node, ast.Call):
            first = ast.unparse(node.args[0]) if node.args else ""
            on = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            resized = on == model and last_name(node.func) in _NEW_WEIGHTS
            if resized or (first == model and project.name(node.func, function) in _ADAPTERS):
                yield node
            held, inside = _holds(on, model, function), False
            for target in project.targets(node, function):
                name = _called_inside(model, node, target)
                inside |= bool(name and depth) and any(_replacements(name, None, target, project, depth - 1))
                inside |= held and _sets_submodules(target, project, _DEPTH)
            if inside:
                yield node


def _called_inside(model: str, call: ast.Call, target: Function) -> str:
    """Returns what a model is called in a function that is given it, or is a method of it."""
    on = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if on == model and target.implied and target.parameters:
        return "" if last_name(call.func) in _MAKE_ANEW else target.parameters[0]
    return next((name for name, value in given(call, target.parameters[target.implied :])
                 if ast.unparse(value) == model), "")  # fmt: skip


def _is_part(target: ast.expr, model: str) -> bool:
    """Whether a target is a part of a model: `model.fc`, `model.classifier[6]`."""
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return False
    base: ast.expr = target.value
    while isinstance(base, (ast.Attribute, ast.Subscript)) and ast.unparse(base) != model:
        base = base.value
    return ast.unparse(base) == model


def _is_layer(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is a new layer with weights of its own."""
    if isinstance(value, ast.Name):
        made = function.assigned.get(value.id, ())
        return len(made) == 1 and not isinstance(made[0], ast.Name) and _is_layer(made[0], function, project)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
        return _is_layer(value.func.value, function, project)
    name = project.name(value.func, function) if isinstance(value, ast.Call) else ""
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn.") and last in ("Sequential", "ModuleList"):
        inner = [one for one in walk(value) if isinstance(one, ast.Call) and one is not value]
        return any(_is_layer(one, function, project) for one in inner)
    return name.startswith("torch.nn.") and last.startswith(("Linear", "Conv", "Embedding", "LSTM", "GRU"))


def _holds(name: str, model: str, function: Function) -> bool:
    """Whether a name is an object that was made with a model: `pruner = Pruner(model)`."""
    return any(
        isinstance(one, ast.Call) and any(ast.unparse(each) == model for each in one.args)
        for one in function.assigned.get(name, ())
    )


def _sets_submodules(function: Function, project: Project, depth: int) -> bool:
    """Whether a function puts layers into the model of its object: setattr(model.get_submodule(name), child, new)."""
    for call in _calls(function):
        if last_name(call.func) == "setattr" and len(call.args) == 3 and "submodule" in ast.unparse(call.args[0]):
            return True
        if depth and any(_sets_submodules(one, project, depth - 1) for one in project.targets(call, function)):
            return True
    return False


def _has_another(
    call: ast.Call, model: str, made: list[tuple[ast.Call, str]], found: ast.AST, function: Function, file: ProjectFile
) -> bool:
    """Whether an optimizer is made behind the replacement, or handed the new weights."""
    line = getattr(found, "lineno", 0)
    behind = [one for one in _calls(function) if one.lineno >= line and one is not found]
    if any(one is not call and one.lineno >= line for one, _ in made) or "add_param_group" in file.words:
        return True
    return any("optim" in last_name(one.func).lower() for one in behind)


def _trains_behind(found: ast.AST, function: Function, project: Project) -> bool:
    line = getattr(found, "lineno", 0)
    behind = [one for one in function.nodes_of(ast.stmt) if isinstance(one, ast.stmt) and one.lineno > line]
    return project.fact(TrainingFunctions).training_call(behind, function) is not None


def _exclude_each_other(one: ast.AST, other: ast.AST, file: ProjectFile) -> bool:
    """Whether two nodes stand in the two arms of one `if`."""
    arms = {}
    inner, outer = one, file.parents.get(one)
    while outer is not None:
        if isinstance(outer, ast.If):
            arms[outer] = inner in outer.body
        inner, outer = outer, file.parents.get(outer)
    inner, outer = other, file.parents.get(other)
    while outer is not None:
        if isinstance(outer, ast.If) and outer in arms:
            return arms[outer] != (inner in outer.body)
        inner, outer = outer, file.parents.get(outer)
    return False
