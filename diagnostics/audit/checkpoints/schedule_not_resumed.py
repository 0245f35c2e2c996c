"""A run goes on with the state of its optimizer, and its schedule begins anew: it is in no checkpoint.

What it does: flags schedules of torch whose optimizer's state is loaded, by itself or as one of several parts, where
the schedule is stepped and otherwise asked for its rate alone: no state of it is saved or loaded, it is handed to
nothing that might, and nothing steps it up to where the run goes on.

Why it matters: the counter of steps goes on, and the schedule begins at 0. Each restart warms up again, and the rate
never comes to the end of its decay, the later the job was interrupted, the less.

Bad:

    scheduler = LambdaLR(optimizer, factor)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]

Good:

    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])

What it cannot see: schedules of other libraries, and parts that are restored by a library that is handed them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.checkpoints.resumed_optimizer import RestoredOptimizer, names_position, restored
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A420"
NAME = "schedule-not-resumed"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "wrong-schedule", "resumed"
WORDS = ("lr_scheduler", "get_scheduler", "get_cosine_schedule_with_warmup", "get_linear_schedule_with_warmup")
CHECKLIST = "the schedule is part of the checkpoint"
_HOME = "torch.optim.lr_scheduler."
# They go on from the rate that comes back with the optimizer: by what is measured, by the same factor in each step.
_LEFT = frozenset(["ReduceLROnPlateau", "ExponentialLR"])
_ASKS = frozenset(["get_last_lr", "get_lr", "optimizer", "base_lrs", "_last_lr", "print_lr"])
_GOES_ON = re.compile(r"start|resum|last_epoch|offset|global_step|completed|initial|done|restore|state", re.IGNORECASE)
_BY_NAME = frozenset(["vars", "locals", "globals"])
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedules that begin anew."""
    for made, function in () if file.is_test else project.calls_in(file):
        if not _is_schedule(made, function, project) or _is_told_where(made, function):
            continue
        for name, optimizer, where in _held(made, function, project):
            state = restored(optimizer, where, project)
            if state is None or not names_position(state, project) or _goes_by_name(where, project):
                continue
            stepped = _only_stepped(name, where, project)
            if stepped is not None:
                yield _found(file, made, state, stepped, project)
                break


def _found(
    file: ProjectFile, made: ast.Call, state: RestoredOptimizer, stepped: tuple[ast.Call, Function], project: Project
) -> Violation:
    return violation(
        file,
        made,
        "where a run goes on, the state of the optimizer comes back and that of this schedule does not: it begins at "
        "step 0 again, with its warm-up, while the training is further on",
        'save scheduler.state_dict() with the optimizer\'s, and load it: scheduler.load_state_dict(state["scheduler"])',
        steps=(
            step(project.file_with(state.where), state.node, "the optimizer's state is restored here"),
            step(project.file_with(stepped[1]), stepped[0], "the schedule steps here, and is saved nowhere"),
        ),
        confidence=Confidence.LIKELY,
    )


def _is_schedule(call: ast.Call, function: Function, project: Project) -> bool:
    name = project.name(call.func, function)
    last = name.rpartition(".")[2]
    if name.startswith(_HOME):
        return last not in _LEFT and not (last == "StepLR" and _is_one(call))
    return name.startswith("transformers.") and last.startswith("get_") and "schedule" in last


def _is_one(call: ast.Call) -> bool:
    """Whether a StepLR takes its factor in each step, as ExponentialLR does."""
    sizes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "step_size")]
    return any(isinstance(one, ast.Constant) and one.value == 1 for one in sizes)


def _is_told_where(call: ast.Call, function: Function) -> bool:
    """Whether a schedule is told where it goes on: by last_epoch, or by a number in what it computes the rate of."""
    values: list[ast.expr] = [*call.args[1:], *(one.value for one in call.keywords if one.arg != "optimizer")]
    if any(one.arg in ("last_epoch", None) for one in call.keywords):
        return True
    for one in list(values):
        values += function.assigned.get(one.id, ())[:2] if isinstance(one, ast.Name) else ()
    return any(
        bool(_GOES_ON.search(node.id if isinstance(node, ast.Name) else node.attr))
        for one in values
        for node in walk(one)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def _held(made: ast.Call, function: Function, project: Project) -> Iterator[tuple[str, str, Function]]:
    """Yields (name of a schedule, of its optimizer, where) where it is made, and where a function gives it back."""
    first = made.args[0] if made.args else next((one.value for one in made.keywords if one.arg == "optimizer"), None)
    if not isinstance(first, (ast.Name, ast.Attribute)):
        return
    optimizer, parents = ast.unparse(first), project.file_with(function).parents
    outer = parents.get(made)
    name = ast.unparse(outer.targets[0]) if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else ""
    if name and "[" not in name and "(" not in name and "," not in name:
        yield name, optimizer, function
    for given_back in function.nodes_of(ast.Return):
        value = given_back.value if isinstance(given_back, ast.Return) else None
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        texts = ["" if one is None else ast.unparse(one) for one in parts]
        at = next((n for n, one in enumerate(parts) if one is made or (name and texts[n] == name)), None)
        for call, caller in project.callers(function)[:4] if at is not None else ():
            target = _target_of(call, caller, project)
            names = [ast.unparse(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
            if isinstance(value, ast.Tuple) and len(names) == len(texts) and at is not None:
                passed = dict(given(call, function.parameters[function.implied :]))
                of = names[texts.index(optimizer)] if optimizer in texts else ast.unparse(passed.get(optimizer, first))
                yield names[at], of, caller
            elif not isinstance(value, ast.Tuple) and isinstance(target, (ast.Name, ast.Attribute)):
                passed = dict(given(call, function.parameters[function.implied :]))
                if optimizer in passed:
                    yield ast.unparse(target), ast.unparse(passed[optimizer]), caller


def _target_of(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    outer = project.file_with(function).parents.get(call)
    return outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None


def _goes_by_name(function: Function, project: Project) -> bool:
    """Whether a file reaches for what it holds by names that are not known: `getattr(self, name).load()`."""
    file = project.file_with(function)
    return "__dict__" in file.words or any(
        (last_name(call.func) == "getattr" and len(call.args) > 1 and not isinstance(call.args[1], ast.Constant))
        or (last_name(call.func) in _BY_NAME and not (call.args and "arg" in ast.unparse(call.args[0])))
        for call, _ in project.calls_in(file)
    )


def _only_stepped(
    name: str, function: Function, project: Project, depth: int = _DEPTH
) -> tuple[ast.Call, Function] | None:
    """Returns where a schedule steps in the training, None where it may be saved, restored or stepped up as well."""
    inside = [one for one in project.functions_in(project.file_with(function)) if _sees(one, name, function)]
    scopes, texts = [function, *inside], {name}
    if name.startswith("self."):
        attribute = name.removeprefix("self.")
        scopes = [one for one in project.functions if any(_is_named(node, attribute) for node in one.own_nodes)]
        texts = {ast.unparse(node) for one in scopes for node in one.own_nodes if _is_named(node, attribute)}
    found: tuple[ast.Call, Function] | None = None
    for scope in scopes:
        parents = project.file_with(scope).parents
        for node in scope.own_nodes:
            if not isinstance(node, (ast.Name, ast.Attribute)) or ast.unparse(node) not in texts:
                continue
            if not isinstance(node.ctx, ast.Load):
                continue
            outer = parents.get(node)
            call = parents.get(outer) if outer is not None else None
            if isinstance(outer, ast.Attribute) and outer.attr == "step" and isinstance(call, ast.Call):
                if call.args or call.keywords or not _is_in_training(call, scope, project):
                    return None  # told where it is, or stepped up to it
                found = (call, scope)
            elif isinstance(outer, ast.Attribute) and outer.attr in _ASKS and isinstance(outer.ctx, ast.Load):
                continue
            elif isinstance(outer, ast.Compare) or (isinstance(outer, ast.If) and outer.test is node):
                continue  # `if scheduler is not None`
            else:
                inner = _handed_over(node, outer, scope, project, depth)
                if inner is None:
                    return None
                found = found or inner
    return found


def _sees(inner: Function, name: str, outer: Function) -> bool:
    """Whether a function in another one, or of a file whose own name it is, means the same by a name."""
    if inner is outer or name in inner.parameters or name in inner.assigned:
        return False
    if outer.name == "<module>":
        return True
    around = inner.outer
    while around is not None and around is not outer:
        around = around.outer
    return around is outer


def _is_named(node: ast.AST, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _handed_over(
    node: ast.expr, outer: ast.AST | None, function: Function, project: Project, depth: int
) -> tuple[ast.Call, Function] | None:
    """Returns where functions that are given a schedule step it, None where they do more with it, or are unknown."""
    if isinstance(outer, ast.keyword):
        outer = project.file_with(function).parents.get(outer)
    if not isinstance(outer, ast.Call) or not depth:
        return None
    found = None
    for target in project.targets(outer, function):
        name = next((key for key, value in given(outer, target.parameters[target.implied :]) if value is node), "")
        found = _only_stepped(name, target, project, depth - 1) if name else None
        if found is None or target.name.endswith("__init__"):
            return None
    return found


def _is_in_training(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a step stands in a loop that trains, or in a function that does nothing but a part of one."""
    training = project.fact(TrainingFunctions)
    loop = innermost_loop(call, function, project.file_with(function))
    if loop is None:
        return id(function) in training.training
    while loop is not None:
        if training.training_call(loop.body, function) is not None:
            return True
        loop = innermost_loop(loop, function, project.file_with(function))
    return False
