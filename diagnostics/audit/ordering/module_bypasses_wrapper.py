"""A training forward that goes past the wrapper: `ddp.module(x)`.

What it does: flags `model.module(...)` and `model.module.forward(...)` where `model` was wrapped in
DistributedDataParallel or FullyShardedDataParallel in the same function or class, and the result is what `.backward()`
is called on. Also what has been taken out of the wrapper before, by a name, a property or a function of the project
(`net = unwrap(model)`), and methods of the project's own models, which are likely.

Why it matters: DDP prepares the reduction of the gradients in its own forward. Past it, backward runs and every rank
keeps its own gradients; the replicas drift apart and nothing says so. Under FSDP the parameters are not gathered.

Bad:

    loss = criterion(model.module(x), y)
    loss.backward()

Good:

    loss = criterion(model(x), y)
    loss.backward()

What it cannot see: methods such as `model.module.loss(x)` of a library's model, which may or may not run the parts;
these are possible. Evaluation, averaging of weights and saving through `.module` are right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.past_wrapper import trained_past_wrapper
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.unwrapped_models import unwrapped_from
from diagnostics.static.torch_code.model_wrappers import DDP, FSDP, WrapSite, bound_to, wraps_in
from diagnostics.static.torch_code.trained_parameters import changes, helper_changes

CODE = "A111"
NAME = "module-bypasses-wrapper"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "gradients-not-synchronised", "ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the forwards past a wrapper whose result is trained on."""
    yield from also(_read(file, project) if "backward" in file.words else (), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for past, wrap, backward in trained_past_wrapper(execution):
        yield violation(
            home(past, project),
            past.node,
            f"{ast.unparse(past.node.func) if isinstance(past.node, ast.Call) else 'this'}() is the model inside of "
            f"{wrap.name.rpartition('.')[2]}, and its result is trained on: the gradients are not "
            "averaged over the ranks",
            "call the wrapped model itself",
            steps=(shown(wrap, project, "it is wrapped here"), shown(backward, project, "backward")),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what one function or class shows."""
    for wrap in wraps_in(file, project):
        name = bound_to(wrap)
        if wrap.kind in (DDP, FSDP) and name:
            for function in _sees(wrap.function, name, file, project):
                yield from _in_function(file, function, wrap, name, project)
    for function in project.functions_in(file):
        yield from _unwrapped(file, function, project)


def _unwrapped(file: ProjectFile, function: Function, project: Project) -> Iterator[Violation]:
    """Yields the training forwards of what was taken out of its wrapper under another name."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    if any(project.communicates(one, function) for one in calls):
        return
    for call in calls:
        receiver = call.func
        if isinstance(receiver, ast.Attribute) and unwrapped_from(receiver, function, project) is None:
            method, receiver = receiver.attr, receiver.value
            if method != "forward" and not _runs_parts(call, function, project):
                continue
        wrapper = unwrapped_from(receiver, function, project)
        trained = _trained_by(call, function, project) if wrapper is not None else None
        if wrapper is None or trained is None or any(ast.unparse(one.func) == wrapper for one in calls):
            continue
        if _is_switched_off({wrapper, f"{wrapper}.module", ast.unparse(receiver)}, call, function, project):
            continue
        yield violation(
            file,
            call,
            f"{ast.unparse(call.func)}() goes past the wrapper {wrapper}, and its result is trained on: "
            "the gradients are not averaged over the ranks",
            f"call {wrapper}() itself",
            steps=(step(project.file_with(trained[1]), trained[0], "backward"),),
            confidence=Confidence.LIKELY,
        )
        return


def _is_switched_off(names: set[str], call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the parameters get no gradient here: a critic that the generator's step only asks.

    `names` are the texts of the wrapper and of what was taken out of it; `for p in critic.parameters()` means these.
    """
    items = {target.id: node.iter for node in function.nodes_of(ast.For) if isinstance(node, ast.For)
             for target in [node.target] if isinstance(target, ast.Name)}  # fmt: skip
    told = []
    for node, base, value in changes(function):
        over = items.get(base.id) if isinstance(base, ast.Name) else None
        if isinstance(over, ast.Call) and last_name(over.func) == "parameters" and isinstance(over.func, ast.Attribute):
            base = over.func.value
        if ast.unparse(base) in names:
            told.append((node.lineno, not (isinstance(value, ast.Constant) and value.value is False)))
    told += [(one.call.lineno, one.trains) for one in helper_changes(function, names, project)]
    before = [one for one in told if one[0] < call.lineno]
    return bool(before) and not max(before)[1]


def _runs_parts(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether what is called is a method of the project that calls its object's parts: `return self.encoder(x)`."""
    name = last_name(call.func)
    methods = project.targets(call, function) or [one for one in project.by_name.get(name, ()) if one.owner is not None]
    return any(
        isinstance(node, ast.Call) and last_name(getattr(node.func, "value", node.func)) == "self"
        for one in methods
        for node in one.nodes_of(ast.Call)
    )


def _in_function(
    file: ProjectFile, function: Function, wrap: WrapSite, name: str, project: Project
) -> Iterator[Violation]:
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    by_hand = any(project.communicates(one, function) for one in calls)  # gradients may be averaged by hand
    if by_hand or any(ast.unparse(one.func) == name for one in calls):  # the wrapper is called, too
        return
    for call in calls:
        sure = _past(call, name)
        backward = _trained(call, function) if sure is not None else None
        if backward is not None and not _is_switched_off({name, f"{name}.module"}, call, function, project):
            yield violation(
                file,
                call,
                f"{ast.unparse(call.func)}() goes past {wrap.kind}, and its result is trained on: "
                "the gradients are not averaged over the ranks",
                f"call {name}() itself",
                steps=(step(file, wrap.call, f"wrapped here as {name}"), step(file, backward, "backward")),
                confidence=Confidence.CONFIRMED if sure else Confidence.POSSIBLE,
            )


def _sees(home: Function, name: str, file: ProjectFile, project: Project) -> list[Function]:
    if not name.startswith("self."):
        return [home]
    kind = project.class_of(home)
    return [one for one in project.functions_in(file) if kind is not None and project.class_of(one) is kind]


def _past(call: ast.Call, name: str) -> bool | None:
    """Returns whether a call surely runs the forward of what is wrapped, None where it does not go past the wrapper."""
    value = call.func
    sure = not isinstance(value, ast.Attribute) or value.attr in ("forward", "module")
    if isinstance(value, ast.Attribute) and value.attr != "module":
        value = value.value
    past = isinstance(value, ast.Attribute) and value.attr == "module" and ast.unparse(value.value) == name
    return sure if past else None


def _trained(call: ast.Call, function: Function) -> ast.Call | None:
    """Returns the backward that the call's result flows into."""
    names: set[str] = set()
    for node in function.own_nodes:
        if isinstance(node, ast.With) and _holds(node, call) and "no_grad" in ast.unparse(node.items[0].context_expr):
            return None
        if isinstance(node, (ast.Assign, ast.AugAssign)) and (_holds(node.value, call) or _reads(node.value, names)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {one.id for target in targets for one in walk(target) if isinstance(one, ast.Name)}
        if _is_backward(node) and node.lineno >= call.lineno and (_reads(node, names) or _holds(node, call)):
            return node
    return None


def _trained_by(
    call: ast.Call, function: Function, project: Project, depth: int = 2
) -> tuple[ast.Call, Function] | None:
    """Returns the backward that a call's result flows into: here, or where this function's result goes."""
    backward = _trained(call, function)
    if backward is not None:
        return backward, function
    if depth == 0 or not _gives_back(call, function):
        return None
    for one, caller in project.callers(function)[:4]:
        by_hand = any(project.communicates(each, caller) for each in caller.nodes_of(ast.Call))
        found = _trained_by(one, caller, project, depth - 1) if not by_hand else None
        if found is not None:
            return found
    return None


def _gives_back(call: ast.Call, function: Function) -> bool:
    """Whether what a function returns is computed from a call's result."""
    names: set[str] = set()
    for node in function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and (_holds(node.value, call) or _reads(node.value, names)):
            names |= {one.id for target in node.targets for one in walk(target) if isinstance(one, ast.Name)}
    for node in function.nodes_of(ast.Return):
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and (_holds(value, call) or _reads(value, names)):
            return True
    return False


def _is_backward(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and last_name(node.func) == "backward"


def _holds(node: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in walk(node))


def _reads(value: ast.AST, names: set[str]) -> bool:
    """Whether a value is computed from one of the names with its graph."""
    if isinstance(value, ast.Call) and last_name(value.func) in ("item", "detach", "argmax", "float"):
        return False
    if isinstance(value, ast.Name):
        return value.id in names
    return any(_reads(one, names) for one in children(value))
