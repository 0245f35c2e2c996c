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
from diagnostics.audit.checkpoints.restored_state import DEPTH, Restored, names_given, position, restores
from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.replaced import replaced_after_load
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A417"
NAME = "restored-then-replaced"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
CHECKLIST = "nothing makes anew what was restored"


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
        restored = list(restores(function, project, DEPTH)) if made else []
        for one in restored:
            for new in made:
                again = any(
                    _is_of(each.text, new.text) and position(each.node) >= position(new.node) for each in restored
                )
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
                    name = names_given(node, called[0]).get(first, "")
                    if name and dot:
                        yield _Remade(f"{name}{dot}{rest}", node, inner, called[0])


def _always_made(method: Function, project: Project) -> Iterator[ast.Assign]:
    """Yields what a method sets to something new each time it is called, and had no use of before."""
    body = statements_of(method.syntax)
    for one in body if isinstance(body, list) else ():  # a lambda's is one value
        if any(isinstance(node, ast.Return) for node in walk(one)):
            return
        for new in _wanted(one):
            text = ast.unparse(new.targets[0])
            before = (
                node for node in method.own_nodes if position(node) < position(new) or _is_inside(node, new.value)
            )
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


def _replaces(new: _Remade, one: Restored, function: Function, project: Project) -> bool:
    """Whether a statement puts a new object in the place of a restored one whenever that was, and no one asked it."""
    file = project.file_with(function)
    inside, outside = dict(around(one.node, function, file)), dict(around(new.node, function, file))
    if position(new.node) <= position(one.node) or any(inside.get(each) != arm for each, arm in outside.items()):
        return False
    chosen = [each for each in inside if isinstance(each, (ast.If, ast.Try)) and each not in outside]
    if not chosen and (one.inner is one.node or not one.sometimes):
        return False  # restored and made anew wherever it was restored: that is meant
    if any(leaves(each, node) for node, each in climb(one.node, new.node, file)):
        return False
    if _mentions(new.inner.value, ast.unparse(new.inner.targets[0]), new.where, 3):
        return False
    later = (each for each in function.own_nodes if position(one.node) < position(each) < position(new.node))
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
