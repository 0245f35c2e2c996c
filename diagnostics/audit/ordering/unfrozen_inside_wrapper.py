"""Parameters that are unfrozen through the wrapper: `trainer.model.module.unfreeze()`, as callbacks do it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import DDP, wraps_in
from diagnostics.static.torch_code.trained_parameters import changes

_CHANGES = {"requires_grad", "requires_grad_"}
_WRAPPERS = ("DistributedDataParallel", "DDP")
_LISTS = ("parameters", "named_parameters")


def unfrozen_inside_wrapper(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what sets requires_grad to True inside of a DDP wrapper, where nothing sets it to False there.

    What stands behind `.module` is wrapped already, whoever wrapped it. A project that switches parameters off and on
    there, as one with a discriminator does, had them trained when it was wrapped; one that never freezes, too.
    """
    for node, function, value in _unfrozen(project) if file.words & (_CHANGES | {"module"}) else ():
        if function.file == file.shown and _is(value, True) and not _wraps(function, project):
            yield violation(
                file,
                node,
                "requires_grad is set to True inside of the wrapper: DDP took stock of the parameters before, has no "
                "hook for these, and every rank trains its own copy",
                "wrap again after unfreezing, or wrap with all of them trained and give the frozen ones a rate of 0",
                confidence=Confidence.LIKELY,
            )
            return


@per_project
def _unfrozen(project: Project) -> tuple[tuple[ast.AST, Function, ast.expr | None], ...]:
    """Returns the changes inside of wrappers, where the project freezes parameters, and none there."""
    if not any(wrap.kind == DDP for one in project.python for wrap in wraps_in(one, project)):
        return ()
    changing = [one for one in project.functions if project.by_path[one.file].words & _CHANGES]
    everywhere = [value for function in changing for _, _, value in changes(function)]
    if all(_is(value, True) for value in everywhere):
        return ()
    through = [one for one in project.functions if project.by_path[one.file].words & (_CHANGES | {"module"})]
    inside = tuple(one for function in through for one in _changed_inside(function, project))
    return () if any(_is(value, False) for _, _, value in inside) else inside


def _changed_inside(function: Function, project: Project) -> Iterator[tuple[ast.AST, Function, ast.expr | None]]:
    for node, base, value in changes(function):
        wrapped_later = any(
            isinstance(one, ast.Call) and last_name(one.func) in _WRAPPERS and one.lineno > node.lineno
            for one in function.nodes_of(ast.Call)
        )
        if any(
            _is_inside(one) or (not wrapped_later and _was_taken_out(one, project))
            for one in (base, *_listed(base, function))
        ):
            yield node, function, value
    for call in function.nodes_of(ast.Call):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _is_inside(call.func.value):
            for target in project.targets(call, function)[:1]:
                for _, _, value in changes(target)[:1]:
                    yield call, function, value


def _listed(base: ast.expr, function: Function) -> Iterator[ast.expr]:
    """Yields what a loop goes through: of `p` in `for name, p in net.module.named_parameters()` the net."""
    for loop in function.nodes_of(ast.For) if isinstance(base, ast.Name) else ():
        if not isinstance(loop, ast.For) or not isinstance(base, ast.Name):
            continue
        listed = _list(loop.iter, function)
        if listed is not None and any(isinstance(one, ast.Name) and one.id == base.id for one in walk(loop.target)):
            yield listed.func


def _list(value: ast.expr, function: Function) -> ast.Call | None:
    """Returns the call that lists parameters, also one that is kept as a list under a name."""
    if isinstance(value, ast.Name) and len(function.assigned.get(value.id, ())) == 1:
        value = function.assigned[value.id][0]
    if isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple") and len(value.args) == 1:
        value = value.args[0]
    return value if isinstance(value, ast.Call) and last_name(value.func) in _LISTS else None


def _was_taken_out(value: ast.expr, project: Project) -> bool:
    """Whether an attribute on the way is a part of what a wrapper holds: `self.body = self.net.module.body`."""
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        if isinstance(value, ast.Attribute):
            kept = [one for one, _ in project.attributes.get(value.attr, ()) if isinstance(one, ast.Attribute)]
            if any(_is_inside(one) for one in kept):
                return True
        value = value.value
    return False


def _is_inside(value: ast.expr) -> bool:
    """Whether an expression goes through `.module`: `trainer.model.module.layer4`."""
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        if isinstance(value, ast.Attribute) and value.attr == "module":
            return True
        value = value.value
    return False


def _is(value: ast.expr | None, what: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is what


def _wraps(function: Function, project: Project, depth: int = 2) -> bool:
    """Whether a function wraps the model once more, itself or by a function or method of the project."""
    return any(
        last_name(call.func) in _WRAPPERS
        or (depth > 0 and any(_wraps(one, project, depth - 1) for one in _perhaps(call, function, project)))
        for call in function.nodes_of(ast.Call)
        if isinstance(call, ast.Call)
    )


def _perhaps(call: ast.Call, function: Function, project: Project) -> Iterable[Function]:
    """Returns what a call may run: of a method of an unknown object, every one of that name."""
    known = project.targets(call, function)
    return known or (project.by_name.get(last_name(call.func), ()) if isinstance(call.func, ast.Attribute) else ())
