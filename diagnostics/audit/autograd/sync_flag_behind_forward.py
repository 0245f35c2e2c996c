"""DDP's flag for averaging gradients is set between forward and backward, where it comes too late.

What it does: flags `ddp.require_backward_grad_sync = ...` behind the forward pass whose backward it is to decide.

Why it matters: DDP reads the flag in forward, where it gets its reducer ready, and not in backward. Set behind forward
it holds for the next one: where the last micro-batch of a group is to average, the first of the next group does. Each
rank steps with gradients of its own, the replicas drift apart, and nothing fails.

Bad:

    loss = model(x)
    model.require_backward_grad_sync = micro_step == steps - 1
    loss.backward()

Good:

    model.require_backward_grad_sync = micro_step == steps - 1
    loss = model(x)
    loss.backward()

What it cannot see: a flag that another function sets, and a model that goes by another name in forward.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A332"
NAME = "sync-flag-behind-forward"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "gradients-not-synchronised", "ranks"
WORDS = ("require_backward_grad_sync",)
CHECKLIST = "whether gradients are averaged is decided before forward"
_FLAG = "require_backward_grad_sync"
_DEPTH = 2  # calls between a loop and the forward pass in it
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the flags that the forward pass before them has not seen."""
    for function in () if file.is_test else project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
                continue
            model = node.targets[0].value
            if node.targets[0].attr != _FLAG or _is_own_flag(model, function, project):
                continue
            found = _too_late(node, model, function, file, project)
            if found is not None:
                forward, backward = found
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(model)} has read {_FLAG} in the forward pass before: set here, it decides about the "
                    "next one, and the gradients that the optimizer steps with are not the average of the ranks",
                    f"set {_FLAG} before the forward pass, or run forward and backward under no_sync()",
                    steps=(step(file, forward, "forward: DDP gets ready to average, or not to, here"),
                           step(file, backward, "and its backward runs here")),
                    confidence=Confidence.CONFIRMED,
                )  # fmt: skip


def _is_own_flag(model: ast.expr, function: Function, project: Project) -> bool:
    """Whether a wrapper of the project itself has such a flag, and reads it where it likes."""
    return any(project.class_attributes(kind, _FLAG) for kind in project.kinds(model, function))


def _too_late(
    flag: ast.Assign, model: ast.expr, function: Function, file: ProjectFile, project: Project
) -> tuple[ast.Call, ast.Call] | None:
    """Returns the forward pass before a flag and its backward behind it, None where the order is another one."""
    loop = innermost_loop(flag, function, file)
    inside = [one for part in (loop.body if loop is not None else _body(function)) for one in _own(part)]
    text = ast.unparse(model)
    flags = [
        one for one in inside if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == f"{text}.{_FLAG}"
    ]  # fmt: skip
    if all(isinstance(one.value, ast.Constant) and one.value.value is True for one in flags):
        return None  # what it is from the beginning
    calls = [one for one in inside if isinstance(one, ast.Call) and not _excluded(one, flag, file)]
    passes = [(_end(one), one, True) for one in calls if _runs(one, text, function, project, _DEPTH)]
    passes += [(_end(one), one, False) for one in calls if last_name(one.func) in ("backward", "manual_backward")]
    passes.sort(key=lambda each: each[0])
    before = [one for one in passes if one[0] < _end(flag)]
    behind = [one for one in passes if one[0] > _end(flag)]
    if not before or not behind or not before[-1][2] or behind[0][2]:
        return None
    told = [
        one for one in flags if _end(one) < _end(before[-1][1]) and ast.unparse(one.value) == ast.unparse(flag.value)
    ]
    return None if told else (before[-1][1], behind[0][1])


def _body(function: Function) -> list[ast.stmt]:
    return list(getattr(function.syntax, "body", ())) if not isinstance(function.syntax, ast.Lambda) else []


def _own(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, _NESTED):
        return
    yield node
    for part in ast.iter_child_nodes(node):
        yield from _own(part)


def _end(node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Returns where a node ends: of calls in each other, the inner one comes first, as when they run."""
    return node.end_lineno or 0, node.end_col_offset or 0


def _excluded(call: ast.Call, flag: ast.Assign, file: ProjectFile) -> bool:
    """Whether a call stands in the other arm of a branch that the flag is set in."""
    arms = dict(_arms(flag, file))
    return any(arms.get(branch, arm) != arm for branch, arm in _arms(call, file))


def _arms(node: ast.AST, file: ProjectFile) -> Iterator[tuple[ast.If, bool]]:
    outer = file.parents.get(node)
    while outer is not None:
        if isinstance(outer, ast.If):
            yield outer, any(node is one for one in outer.body)
        node, outer = outer, file.parents.get(outer)


def _runs(call: ast.Call, text: str, function: Function, project: Project, depth: int) -> bool:
    """Whether a call runs a model's forward: itself, or in a function that is given it or has it on its object."""
    if ast.unparse(call.func) == text:
        return True
    if not depth or last_name(call.func) == "backward":
        return False
    for target in project.targets(call, function):
        names = dict(zip(target.parameters[target.implied :], call.args, strict=False))
        names.update({one.arg: one.value for one in call.keywords if one.arg})
        inner = {name for name, given in names.items() if ast.unparse(given) == text}
        if text.startswith("self.") and ast.unparse(call.func).startswith("self."):
            inner.add(text)
        nodes = [one for one in target.own_nodes if isinstance(one, ast.Call)]
        trains = any(last_name(one.func) == "backward" for one in nodes)
        if not trains and any(_runs(one, name, target, project, depth - 1) for name in inner for one in nodes):
            return True
    return False
