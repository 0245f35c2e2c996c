"""A decay, a rate or a temperature is overwritten by what follows from itself and from the number of the step.

What it does: flags `self.decay = f(self.decay, step)` where the attribute is a setting of the constructor and the step
is counted from the beginning, and `group["lr"] = group["lr"] * f(step)`.

Why it matters: such a formula says what the value is at a step, as a share of the setting. When its result takes the
setting's place, the next step starts from there: a polynomial becomes a product that falls to 0 in a few steps, an
average settles at a factor that nobody chose. The training goes on, with other numbers than those in its configuration.

Bad:

    self.lr = self.lr * (1 - step / self.total) ** 0.9

Good:

    lr = self.base_lr * (1 - step / self.total) ** 0.9

What it cannot see: counters that another object keeps. A factor that does not know the step (`self.lr *= 0.99`) is
meant to add up, and so is a ratio of two steps.
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
from diagnostics.static.torch_code.module_classes import own_attribute

CODE = "A329"
NAME = "setting-overwritten-by-itself"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-schedule"
CHECKLIST = "what a schedule gives does not take the place of its setting"
_DEPTH = 4
_KEYS = frozenset(["lr", "momentum", "weight_decay"])
_LIMITS = frozenset(["min", "max", "clamp", "minimum", "maximum"])
_BEFORE = re.compile(r"last|prev|old", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the settings that are lost."""
    if file.is_test or "torch" not in file.words:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of((ast.Assign, ast.AugAssign)):
            name, value = _written(node, function, project)
            if value is None or not name or function.name.endswith("__init__") or _is_once(node, function, file):
                continue
            if _is_put_back(name, node, function):
                continue
            found = _grows(name, value, function, project)
            if found is not None:
                yield violation(
                    file,
                    node,
                    f"{name} is overwritten by what follows from itself and from the number of the step: the next step "
                    "starts from there, and not from the setting",
                    f"keep the setting: put the result into another name than {name}",
                    steps=(step(project.file_with(found[1]), found[0], f"of {name} and the step"),),
                    confidence=Confidence.LIKELY,
                )


def _written(node: ast.AST, function: Function, project: Project) -> tuple[str, ast.expr | None]:
    """Returns the text of a setting that a statement overwrites, and with what."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]  # type: ignore[attr-defined]
    value: ast.expr = node.value  # type: ignore[attr-defined]
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)):
            return "", None
        read = ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, node)
        value = ast.copy_location(ast.BinOp(left=read, op=node.op, right=value), node)
    text = ast.unparse(target)
    if isinstance(target, ast.Subscript):
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        return (text, value) if key in _KEYS else ("", None)
    attribute = own_attribute(target)
    kind = project.class_of(function)
    if not attribute or kind is None:
        return "", None
    made = [(one, where) for one, where in project.class_attributes(kind, attribute) if where.name.endswith("__init__")]
    is_setting = len(made) == 1 and isinstance(made[0][0], ast.Name) and made[0][0].id in made[0][1].parameters
    return (text, value) if is_setting else ("", None)


def _grows(name: str, value: ast.expr, function: Function, project: Project) -> tuple[ast.expr, Function] | None:
    """Returns the product or limit that a setting and a step counter are in together, where nothing else is."""
    value = _behind(value, function)
    given = [(value, function)]
    if isinstance(value, ast.Call) and (targets := project.targets(value, function)):
        given = [(_behind(node.value, one), one) for one in targets for node in one.nodes_of(ast.Return)
                 if isinstance(node, ast.Return) and node.value is not None]  # fmt: skip
    for made, where in given:
        seen = set(_read(made, where, project, _DEPTH))
        if "other" in seen or "counter" not in seen or name not in seen or _is_ratio(made, where, project):
            continue
        for one in ast.walk(made):
            joins = (isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Mult, ast.Div, ast.Pow))) or (
                isinstance(one, ast.Call) and last_name(one.func) in _LIMITS
            )
            if joins and {name, "counter"} <= set(_read(one, where, project, _DEPTH)):
                return made, where
    return None


def _behind(value: ast.expr, function: Function) -> ast.expr:
    """Returns what a local name is set to: `lr = group["lr"] * ...; group["lr"] = lr`."""
    held = function.assigned.get(value.id, ()) if isinstance(value, ast.Name) else ()
    return held[0] if len(held) == 1 else value


def _read(value: ast.AST, function: Function, project: Project, depth: int) -> Iterator[str]:
    """Yields what a value is made of: texts of attributes and items, "counter", and "other" for the rest."""
    if isinstance(value, ast.IfExp):
        yield from _read(value.body, function, project, depth)
        yield from _read(value.orelse, function, project, depth)
    elif isinstance(value, (ast.Compare, ast.Constant, ast.operator, ast.expr_context)):
        return
    elif isinstance(value, (ast.Attribute, ast.Subscript)):
        is_counter = isinstance(value, ast.Attribute) and _is_counted(value, function, project)
        yield "counter" if is_counter else ast.unparse(value)
    elif isinstance(value, ast.Name):
        yield from _named(value, function, project, depth)
    elif isinstance(value, ast.Call):
        for one in [*value.args, *(each.value for each in value.keywords)]:
            yield from _read(one, function, project, depth)
    else:
        for part in ast.iter_child_nodes(value):
            yield from _read(part, function, project, depth)


def _named(value: ast.Name, function: Function, project: Project, depth: int) -> Iterator[str]:
    if value.id in function.parameters:
        given = list(project.arguments(value.id, function))
        counted = bool(given) and all(_counts(one, where, project, 3) for one, where in given)
        yield "counter" if counted else "other"
        return
    if _counts(value, function, project, 3):
        yield "counter"
        return
    held = function.assigned.get(value.id, ())
    if not depth or len(held) != 1:
        yield "other" if function.assigned.get(value.id) or not _is_global(value.id, function, project) else value.id
        return
    yield from _read(held[0], function, project, depth - 1)


def _is_global(name: str, function: Function, project: Project) -> bool:
    return name in project.module_of(project.file_with(function)).assigned


def _counts(value: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether a value is the number of a round: of `for step in range(...)`, of enumerate, or raised by 1."""
    if (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, (ast.Add, ast.Sub))
        and isinstance(value.right, ast.Constant)
    ):
        return _counts(value.left, function, project, depth)
    if isinstance(value, ast.Attribute):
        return _is_counted(value, function, project)
    if not isinstance(value, ast.Name) or not depth:
        return False
    if value.id in function.parameters:
        given = list(project.arguments(value.id, function))
        return bool(given) and all(_counts(one, where, project, depth - 1) for one, where in given)
    for node in function.nodes_of((ast.For, ast.AugAssign)):
        if isinstance(node, ast.AugAssign):
            if ast.unparse(node) == f"{value.id} += 1":
                return True
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            called = last_name(node.iter.func)
            first = node.target.elts[0] if isinstance(node.target, ast.Tuple) and node.target.elts else node.target
            if called in ("range", "trange", "enumerate") and isinstance(first, ast.Name) and first.id == value.id:
                return True
    return False


def _is_counted(value: ast.Attribute, function: Function, project: Project) -> bool:
    """Whether an object raises its attribute by 1."""
    if not isinstance(value.value, ast.Name) or value.value.id != "self":
        return False
    kind = project.class_of(function)
    return any(
        ast.unparse(node) in (f"self.{value.attr} += 1", f"self.{value.attr} = self.{value.attr} + 1")
        for one in project.functions_in(project.file_with(function))
        if project.class_of(one) is kind
        for node in one.nodes_of((ast.AugAssign, ast.Assign))
    )


def _is_ratio(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a factor leads from one step to the next: it speaks of the step before, too."""
    for one in ast.walk(value):
        less = isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and isinstance(one.right, ast.Constant)
        if less and isinstance(one, ast.BinOp) and "counter" in set(_read(one.left, function, project, _DEPTH)):
            return True
        if isinstance(one, (ast.Name, ast.Attribute)) and _BEFORE.search(last_name(one)):
            return True
    return False


def _is_once(node: ast.AST, function: Function, file: ProjectFile) -> bool:
    """Whether a statement runs at one step only: under `step == n`, or in a list of steps."""
    outer = file.parents.get(node)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, ast.If) and any(
            isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.Eq, ast.In)) and "%" not in ast.unparse(one)
            for one in ast.walk(outer.test)
        ):
            return True
        outer = file.parents.get(outer)
    return False


def _is_put_back(name: str, node: ast.AST, function: Function) -> bool:
    """Whether what was read of a setting before is given back to it further below: it is changed for one step only."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    read = any(
        getattr(one, "lineno", first) < first and isinstance(one.ctx, ast.Load) and ast.unparse(one) == name
        for one in function.nodes_of((ast.Attribute, ast.Subscript))
        if isinstance(one, (ast.Attribute, ast.Subscript))
    )
    return read and any(
        one.lineno > last and ast.unparse(one.targets[0]) == name and isinstance(one.value, (ast.Name, ast.Subscript))
        for one in function.nodes_of(ast.Assign)
        if isinstance(one, ast.Assign)
    )
