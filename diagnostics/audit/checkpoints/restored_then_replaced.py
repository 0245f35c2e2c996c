"""What a run that goes on has restored is replaced by a new object further down in the set-up.

What it does: flags `self.x = New(...)` behind a call, or a branch, that restores x from a checkpoint under a condition:
with load_state_dict or a method of its own, by building it from what torch.load gave, or in a part of it. The new one
is made in every run, or in every run that has such a thing by its settings, there or in a method that is called there:
`trainer.resume(path)`, then `trainer.prepare()`. It also runs each script on values that are not known: an optimizer, a
schedule or a scaler that was given a checkpoint's state and that nothing asks again, where a later one of its class,
made for the same model, is trained with.

Why it matters: the restore runs, reports no error and is thrown away. An average of the weights begins anew, a best
metric is forgotten, an optimizer has no moments, and the run that goes on is not the one that was interrupted.

Bad:

    if os.path.isfile(path):
        self.restore(path)                  # sets self.ema
    self.ema = Average(self.model)

Good:

    self.ema = Average(self.model)
    if os.path.isfile(path):
        self.restore(path)

What it cannot see: averages that other objects hold. What is reset in the branch that restores is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.checkpoints.branches_around import around, climb, leaves
from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.executed.checkpoints.replaced import replaced_after_load
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A417"
NAME = "restored-then-replaced"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
CHECKLIST = "nothing makes anew what was restored"
_DEPTH = 2
_RESTORES = re.compile(r"(?:^|_)(?:load|reload|restore|resume)|set_state")


@dataclass(frozen=True, slots=True)
class _Restored:
    """`text` is restored at `node`, which may be a call of what does it; `sometimes`: that may find no checkpoint."""

    text: str
    node: ast.expr | ast.stmt
    inner: ast.AST
    where: Function
    sometimes: bool


@dataclass(frozen=True, slots=True)
class _Remade:
    """`text` is made anew by `inner` of `where`; `node` is that, or the call of a method that does it."""

    text: str
    node: ast.Call | ast.Assign
    inner: ast.Assign
    where: Function


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the objects that take the place of restored ones."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for new, loaded, call, caller in replaced_after_load(execution):
        what = new.name.rpartition(".")[2]
        yield violation(
            project.file_with(caller),
            call,
            f"the {what} that was restored from a checkpoint is not the one that is trained with: this makes another "
            "one in every run, and what was restored is lost",
            f"make the {what} once, before the checkpoint is restored",
            steps=(
                shown(loaded, project, "the checkpoint is restored here"),
                shown(new, project, "and the new one is made here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if file.is_test or "torch" not in file.words:
        return
    for function in project.functions_in(file):
        made = list(_makes(function, project))
        restored = list(_restores(function, project, _DEPTH)) if made else []
        for one in restored:
            for new in made:
                again = any(_is_of(each.text, new.text) and _at(each.node) >= _at(new.node) for each in restored)
                if not _is_of(one.text, new.text) or again or not _replaces(new, one, function, project):
                    continue
                steps = [
                    step(file, one.node, "the checkpoint is restored here"),
                    step(project.file_with(one.where), one.inner, f"which sets {new.text}"),
                ]
                steps += (
                    [step(file, new.node, "and this, behind it, makes it anew")] if new.where is not function else []
                )
                yield violation(
                    project.file_with(new.where),
                    new.inner,
                    f"{new.text} was restored from a checkpoint before, where there is one: this makes it anew in "
                    "every run, and what was restored is lost",
                    f"make {new.text} before the checkpoint is restored",
                    steps=tuple(steps),
                    confidence=Confidence.LIKELY,
                )
                break


def _is_of(text: str, whole: str) -> bool:
    """Whether what is restored is an object or a part of it: `self.ema.shadow` of `self.ema`."""
    return text == whole or text.startswith(f"{whole}.")


def _makes(function: Function, project: Project) -> Iterator[_Remade]:
    """Yields what a function makes anew, itself and by the methods that it calls, whatever happens in them."""
    for node in function.nodes_of((ast.Assign, ast.Call)):
        if isinstance(node, ast.Assign):
            if _is_new(node.value) and len(node.targets) == 1:
                yield _Remade(ast.unparse(node.targets[0]), node, node, function)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = list(project.targets(node, function))
            if len(called) == 1 and called[0].owner is not None and not called[0].name.endswith(".__init__"):
                for inner in _always_made(called[0], project):
                    first, dot, rest = ast.unparse(inner.targets[0]).partition(".")
                    name = _names(node, called[0]).get(first, "")
                    if name and dot:
                        yield _Remade(f"{name}{dot}{rest}", node, inner, called[0])


def _always_made(method: Function, project: Project) -> Iterator[ast.Assign]:
    """Yields what a method sets to something new each time it is called, and had no use of before."""
    body = getattr(method.syntax, "body", ())
    for one in body if isinstance(body, list) else ():  # a lambda's is one value
        if any(isinstance(node, ast.Return) for node in walk(one)):
            return
        for new in _wanted(one):
            text = ast.unparse(new.targets[0])
            before = (node for node in method.own_nodes if _at(node) < _at(new) or _is_inside(node, new.value))
            name = text.rpartition(".")[2]
            if not any(_reads(node, text, name, method, project) for node in before) and not _by_alias(
                new, method, project
            ):
                yield new


def _wanted(one: ast.AST) -> Iterator[ast.Assign]:
    """Yields a statement that sets something new, also where a setting says whether there is one: `if use_ema:`."""
    if isinstance(one, ast.Assign) and len(one.targets) == 1 and _is_new(one.value):
        yield one
    if isinstance(one, ast.If) and not one.orelse:
        for inner in one.body:
            for new in _wanted(inner) if isinstance(inner, ast.Assign) else ():
                if _asks_for(one.test, ast.unparse(new.targets[0]).rpartition(".")[2].lstrip("_")):
                    yield new


def _asks_for(test: ast.expr, name: str) -> bool:
    """Whether a test is a setting that speaks of a thing and of nothing else: not whether it is there already."""
    asked = ast.unparse(test)
    several = any(isinstance(node, (ast.BoolOp, ast.Compare, ast.UnaryOp)) for node in walk(test))
    return len(name) > 2 and name in asked and not several and not re.search(r"has|have|start|fresh|new|init", asked)


def _by_alias(new: ast.Assign, method: Function, project: Project) -> bool:
    """Whether something is made of what it was before, by another attribute's name: `self.model = self.net`."""
    target = new.targets[0]
    meant = [target, *(one for one in walk(new.value) if isinstance(one, ast.Attribute))]
    values = [
        each for one in meant if isinstance(one, ast.Attribute) for each, _ in project.attribute_values(one, method)
    ]
    texts = {ast.unparse(one) for one in meant}
    return any(isinstance(one, ast.Attribute) and ast.unparse(one) in texts for one in values)


def _is_inside(node: ast.AST, value: ast.expr) -> bool:
    return any(node is each for each in walk(value))


def _is_new(value: ast.expr) -> bool:
    """Whether a value is a call or a number, and not what frees an object."""
    if isinstance(value, ast.Call):
        return True
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and value.value is not False


def _restores(function: Function, project: Project, depth: int) -> Iterator[_Restored]:
    """Yields what a function restores of a checkpoint, itself and through what it calls."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    loads = [one for one in calls if project.name(one.func, function) == "torch.load"]
    sometimes = any(_is_conditional(one, function, project) for one in loads)
    for node in function.nodes_of((ast.Call, ast.Assign)):
        if isinstance(node, ast.Assign):
            text = ast.unparse(node.targets[0])
            local = isinstance(node.targets[0], ast.Name) and depth == _DEPTH and isinstance(node.value, ast.Call)
            if ("." in text or local) and len(node.targets) == 1 and _is_loaded(node.value, function, project):
                yield _Restored(text, node, node, function, sometimes)
        elif isinstance(node, ast.Call) and _is_given_state(node, function, project):
            yield _Restored(ast.unparse(node.func.value), node, node, function, sometimes)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and depth:
            for target in project.targets(node, function):
                names = _names(node, target)
                for one in _restores(target, project, depth - 1) if names else ():
                    first, dot, rest = one.text.partition(".")
                    if first in names:
                        yield _Restored(f"{names[first]}{dot}{rest}", node, one.inner, one.where, one.sometimes)


def _is_given_state(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether an object's method is given a part of a checkpoint to restore it from."""
    if not isinstance(call.func, ast.Attribute) or not _RESTORES.search(call.func.attr) or not call.args:
        return False
    return _is_loaded(call.args[0], function, project)


def _names(call: ast.Call, target: Function) -> dict[str, str]:
    """Returns what the parameters of a function are called by who calls it."""
    given = {name: ast.unparse(one) for name, one in zip(target.parameters[target.implied :], call.args, strict=False)}
    given.update({one.arg: ast.unparse(one.value) for one in call.keywords if one.arg})
    if target.implied and isinstance(call.func, ast.Attribute):
        base = ast.unparse(call.func.value)
        given[target.parameters[0]] = "self" if base == "super()" else base
    return given


def _is_loaded(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is a part of what torch.load gave, or made of one."""
    for node in walk(value):
        base = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            base = node.func.value
        if isinstance(node, ast.Call) and project.name(node.func, function) == "torch.load" and node is not value:
            return True
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name) and any(
            isinstance(one, ast.Call) and project.name(one.func, where) == "torch.load"
            for one, where in origins(base, function, project)
        ):
            return True
    return False


def _is_conditional(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether something decides if a node of a function runs."""
    file = project.file_with(function)
    if any(isinstance(outer, (ast.If, ast.Try)) for outer, _ in around(node, function, file)):
        return True
    returns = (one for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return))
    return any(_at(one) < _at(node) for one in returns)


def _replaces(new: _Remade, one: _Restored, function: Function, project: Project) -> bool:
    """Whether a statement puts a new object in the place of a restored one whenever that was, and no one asked it."""
    file = project.file_with(function)
    inside, outside = dict(around(one.node, function, file)), dict(around(new.node, function, file))
    if _at(new.node) <= _at(one.node) or any(inside.get(each) != arm for each, arm in outside.items()):
        return False
    chosen = [each for each in inside if isinstance(each, (ast.If, ast.Try)) and each not in outside]
    if not chosen and (one.inner is one.node or not one.sometimes):
        return False  # restored and made anew wherever it was restored: that is meant
    if any(leaves(each, node) for node, each in climb(one.node, new.node, file)):
        return False
    if _mentions(new.inner.value, ast.unparse(new.inner.targets[0]), new.where, 3):
        return False
    later = (each for each in function.own_nodes if _at(one.node) < _at(each) < _at(new.node))
    between = [each for each in later if not _is_part(each, new.node, one.node, file)]
    attribute = new.text.partition(".")[2].partition(".")[0]
    return not any(_reads(each, new.text, attribute, function, project) for each in between)


def _reads(node: ast.AST, text: str, attribute: str, function: Function, project: Project) -> bool:
    """Whether a node reads what is restored, or calls a method that reads the attribute."""
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        return ast.unparse(node) == text
    if not attribute or not isinstance(node, ast.Call):
        return False
    inner = (one for target in project.targets(node, function) for one in target.nodes_of(ast.Attribute))
    return any(
        getattr(one, "attr", "") == attribute and isinstance(getattr(one, "ctx", None), ast.Load) for one in inner
    )


def _mentions(value: ast.AST, text: str, function: Function, depth: int) -> bool:
    """Whether a value is made of what a text stands for, also by another name."""
    for node in walk(value):
        if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) == text:
            return True
        if isinstance(node, ast.Name) and depth:
            held = function.assigned.get(node.id, ())
            if any(_mentions(one, text, function, depth - 1) for one in held if one is not value):
                return True
    return False


def _is_part(node: ast.AST, new: ast.AST, restored: ast.AST, file: ProjectFile) -> bool:
    """Whether a node belongs to one of the two statements themselves."""
    outer: ast.AST | None = node
    while outer is not None and outer is not new and outer is not restored:
        outer = file.parents.get(outer)
    return outer is not None


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
