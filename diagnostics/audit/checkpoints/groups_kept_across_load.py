"""A schedule keeps an optimizer's `param_groups`, which loading a checkpoint replaces.

What it does: flags an object that is given `optimizer.param_groups`, keeps it and sets rates in it, and that is made
before the optimizer's state is loaded.

Why it matters: `optimizer.load_state_dict()` makes new groups. The object holds the old ones from then on and sets
rates that no optimizer reads: after each resume the learning rate stays at what the checkpoint had.

Bad:

    schedule = Schedule(optimizer.param_groups)
    optimizer.load_state_dict(state["optimizer"])

Good:

    schedule = Schedule(optimizer)  # and read optimizer.param_groups in each step

What it cannot see: programs that load in one file and make the schedule in another one that it does not see called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A429"
NAME = "groups-kept-across-load"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "wrong-schedule", "resumed"
WORDS = ("param_groups",)
CHECKLIST = "param_groups is read of the optimizer when it is used"
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the groups that are kept too long."""
    for function in () if file.is_test else project.functions_in(file):
        for node, set_at, where in [*_kept(function, project), *_given(function, project)]:
            loaded = _loaded_behind(node, function, project, _DEPTH)
            if loaded is not None:
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(node)} is kept here, and loading the optimizer's state replaces it: the rates that "
                    "are set in it afterwards reach no optimizer",
                    "keep the optimizer, and read optimizer.param_groups where they are set",
                    steps=(
                        step(project.file_with(loaded[1]), loaded[0], "load_state_dict() makes new groups"),
                        step(project.file_with(where), set_at, "and the old ones are changed here"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _is_groups(value: ast.expr) -> bool:
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Attribute) and value.attr == "param_groups"


def _kept(function: Function, project: Project) -> Iterator[tuple[ast.expr, ast.AST, Function]]:
    """Yields the groups that an object or a function keeps by itself: `self.groups = optimizer.param_groups`."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or not _is_groups(node.value):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
            kind = project.class_of(function)
            found = _set_in(target.attr, kind, project) if kind is not None and "__init__" in function.name else None
            if found is not None and kind is not None and not _taken_again(target.attr, kind, project):
                yield node.value, *found
        elif isinstance(target, ast.Name):
            behind = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
                      and one.lineno > node.lineno and _loads(one)]  # fmt: skip
            sets = [one for one in _sets(target.id, function) if behind and one.lineno > behind[0].lineno]
            if sets and len(function.assigned[target.id]) == 1:
                yield node.value, sets[0], function


def _taken_again(attribute: str, kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class takes the groups anew where it loads a state, or wherever else than in its constructor."""
    return any(
        _is_groups(node.value) and any(ast.unparse(one) == f"self.{attribute}" for one in node.targets)
        for function in project.functions
        if project.class_of(function) is kind and not function.name.endswith("__init__")
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
    )


def _given(function: Function, project: Project) -> Iterator[tuple[ast.expr, ast.AST, Function]]:
    """Yields the groups that are given to an object that keeps them."""
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call):
            continue
        values = [*call.args, *(one.value for one in call.keywords)]
        for value in (one for one in values if _is_groups(one)):
            kind = next(iter(project.kinds(call, function)), None)
            if kind is None:
                continue
            for attribute in _holding(value, call, function, kind, project):
                found = _set_in(attribute, kind, project)
                if found is not None:
                    yield value, *found
                    break


def _holding(
    value: ast.expr, call: ast.Call, function: Function, kind: ast.ClassDef, project: Project
) -> Iterator[str]:
    """Yields the attributes of an object that hold a value it is made with."""
    for key, given in project.given_fields(call, function):
        if given is value:
            yield key.rpartition(".")[2]
    for name, held in project.attributes.items():
        for one, where in held:
            if not where.name.endswith("__init__") or project.class_of(where) is not kind:
                continue
            made = isinstance(one, ast.Name) and one.id in where.parameters
            if (
                isinstance(one, ast.Name)
                and made
                and any(each is value for each, _ in project.arguments(one.id, where))
            ):
                yield name


def _set_in(attribute: str, kind: ast.ClassDef, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns where a class sets items of the groups that an attribute holds, outside of its constructor."""
    for one in project.functions:
        if project.class_of(one) is kind and not one.name.endswith("__init__"):
            found = next(_sets(f"self.{attribute}", one), None)
            if found is not None:
                return found, one
    return None


def _sets(name: str, function: Function) -> Iterator[ast.Assign | ast.AugAssign]:
    """Yields the statements that set `group["lr"]` of groups of this name."""
    loops: set[str] = set()
    for loop in function.nodes_of(ast.For):
        assert isinstance(loop, ast.For)  # noqa: S101 (asked for by kind)
        if any(ast.unparse(one) == name for one in ast.walk(loop.iter) if isinstance(one, (ast.Name, ast.Attribute))):
            loops |= {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    for node in function.nodes_of((ast.Assign, ast.AugAssign)):
        assert isinstance(node, (ast.Assign, ast.AugAssign))  # noqa: S101 (asked for by kind)
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            base = target.value.value if isinstance(target.value, ast.Subscript) else target.value
            if ast.unparse(base) in loops or ast.unparse(base) == name:
                yield node


def _loads(call: ast.Call) -> bool:
    return last_name(call.func) == "load_state_dict" and "opt" in ast.unparse(call.func).lower()


def _loaded_behind(node: ast.AST, function: Function, project: Project, depth: int) -> tuple[ast.AST, Function] | None:
    """Returns what loads an optimizer's state behind a place, there or behind the calls that lead to it."""
    line = getattr(node, "lineno", 0)
    for call in function.nodes_of(ast.Call):
        if isinstance(call, ast.Call) and call.lineno > line:
            found = _loading(call, function, project, _DEPTH)
            if found is not None:
                return found
    for call, caller in project.callers(function)[:4] if depth else ():
        found = _loaded_behind(call, caller, project, depth - 1)
        if found is not None:
            return found
    return None


def _loading(call: ast.Call, function: Function, project: Project, depth: int) -> tuple[ast.AST, Function] | None:
    if _loads(call) or (last_name(call.func) == "load_state_dict" and _is_optimizer(call, function, project)):
        return call, function
    for one in project.targets(call, function) if depth else ():
        for inner in one.nodes_of(ast.Call):
            found = _loading(inner, one, project, depth - 1) if isinstance(inner, ast.Call) else None
            if found is not None:
                return found
    return None


def _is_optimizer(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the owner of a method is one of torch's optimizers, by what it was made of."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner is not None and any(
        isinstance(one, ast.Call) and project.name(one.func, where).startswith("torch.optim.")
        and "lr_scheduler" not in project.name(one.func, where)
        for one, where in origins(owner, function, project)
    )  # fmt: skip
