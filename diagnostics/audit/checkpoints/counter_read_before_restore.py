"""How much of the data is to be left out is asked before the checkpoint that knows it is read.

What it does: flags a counter that a loader, sampler or schedule is made with to begin in the middle (`skip=self.step`,
`start_index=step`), where the counter is set from a checkpoint only further down in the function, and nothing makes
the loader anew or tells it the number.

Why it matters: at that point the counter is still what it was set to at first, 0. The run that goes on takes the
batches it has seen once more, in the same order, and never comes to the last ones; it reports no error.

Bad:

    self.loader = make_loader(skip=self.step)
    if path.exists():
        self.load(path)                             # sets self.step

Good:

    if path.exists():
        self.load(path)
    self.loader = make_loader(skip=self.step)

What it cannot see: arguments whose names do not say that something begins in the middle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.checkpoints.restored_state import DEPTH, Restored, around, is_loaded, position, restores
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A419"
NAME = "counter-read-before-restore"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
CHECKLIST = "what a loader begins with is read from the checkpoint first"
_MIDDLE = re.compile(
    r"skip|start|offset|consumed|seen|resume|initial|begin|last_epoch|already|trained|num_batches$|fast_?forward",
    re.IGNORECASE,
)
_MIDDLE_CALLS = frozenset(["islice", "skip_first_batches", "skip"])
_SHOWS = re.compile(r"tqdm|trange|progress|logger|writer|print|timer|wandb|format|exit", re.IGNORECASE)
_COUNTS = frozenset(["enumerate", "zip", "range", "tqdm", "len"])
_KEPT = ("load_state_dict", "load", "restore")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the counters that are asked too early."""
    if file.is_test or "torch" not in file.words:
        return
    for function in project.functions_in(file):
        asked = list(_asked(function))
        if not asked:
            continue
        for one in (*restores(function, project, DEPTH), *_locals(function, project)):
            early = next((each for each in asked if _is_early(*each, one, function, project)), None)
            if early is None:
                continue
            made, given, _ = early
            text = ast.unparse(given)
            yield violation(
                file,
                made,
                f"{text} is read here before it is set from the checkpoint, where there is one: a run that goes on "
                "begins at the first batch again",
                "read the checkpoint first, or tell the number behind it",
                steps=(
                    step(file, one.node, "the checkpoint is read here"),
                    step(project.file_with(one.where), one.inner, f"which sets {one.text}"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _asked(function: Function) -> Iterator[tuple[ast.Assign, ast.expr, str]]:
    """Yields (assignment, counter, what holds it) of objects that are made to begin in the middle."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
            continue
        for call in (one for one in walk(node.value) if isinstance(one, ast.Call)):
            if _SHOWS.search(ast.unparse(call.func)):
                continue
            given = [one.value for one in call.keywords if one.arg and _MIDDLE.search(one.arg)]
            given += call.args[1:] if last_name(call.func) in _MIDDLE_CALLS else []
            for value in given:
                counter = _counter(value)
                if counter is not None:
                    yield node, counter, ast.unparse(node.targets[0])


def _counter(value: ast.expr) -> ast.expr | None:
    """Returns the name or attribute that a number is: `step`, `self.state.step`, `step * batch_size`, `epoch - 1`."""
    while isinstance(value, ast.BinOp):
        value = value.left
    return value if isinstance(value, (ast.Name, ast.Attribute)) else None


def _locals(function: Function, project: Project) -> Iterator[Restored]:
    """Yields the names of a function that are set from a checkpoint: `step = state["step"]`."""
    for node in function.nodes_of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_loaded(value, function, project):
                yield Restored(name, node, node, function, sometimes=True)


def _is_early(
    made: ast.Assign,
    given: ast.expr,
    held: str,
    one: Restored,
    function: Function,
    project: Project,
) -> bool:
    """Whether an object is made with what is restored only behind it, from what it was set to at first."""
    text = ast.unparse(given)
    if text != one.text and not text.startswith(f"{one.text}."):
        return False
    if position(made) >= position(one.node) or _is_set_before(text, one.text, made, function):
        return False
    file = project.file_with(function)
    inside = dict(around(one.node, function, file))
    if any(isinstance(outer, (ast.For, ast.While)) for outer in inside):
        return False
    if any(inside.get(outer) != arm for outer, arm in around(made, function, file)):
        return False
    return not any(_tells(held, one, where, function) for where in _seeing(function, project))


def _is_set_before(text: str, restored: str, made: ast.Assign, function: Function) -> bool:
    """Whether anything but a number, or a new object, is set before the object is made; or nothing is set at all."""
    before = [
        node.value
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
        and position(node) < position(made)
        and any(ast.unparse(target) in (text, restored) for target in node.targets)
    ]
    return not before or not all(_is_first(one, text == restored) for one in before)


def _is_first(value: ast.expr, number: bool) -> bool:
    if number:
        return isinstance(value, ast.Constant) and isinstance(value.value, int)
    return isinstance(value, ast.Call) and not value.args and not value.keywords


def _seeing(function: Function, project: Project) -> tuple[Function, ...]:
    kind = project.class_of(function)
    return (function, *(project.functions_seeing(kind) if kind is not None else ()))


def _tells(held: str, one: Restored, where: Function, function: Function) -> bool:
    """Whether a statement makes an object anew, loads its state, or has to do with both it and the counter.

    In the function that the object is made in only what stands behind the checkpoint.
    """
    for node in where.nodes_of((ast.Call, ast.Assign)):
        if where is function and position(node) <= position(one.node):
            continue
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == held for target in node.targets):
            return True
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _KEPT:
                if ast.unparse(owner).startswith(held):
                    return True
        names = {ast.unparse(each) for each in walk(node) if isinstance(each, (ast.Name, ast.Attribute))}
        if held in names and one.text in names and not (isinstance(node, ast.Call) and last_name(node) in _COUNTS):
            return True
    return False
