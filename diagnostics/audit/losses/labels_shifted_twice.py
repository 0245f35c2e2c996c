"""Labels of a language model are moved on by one token, and what they are given to moves them on once more.

What it does: flags labels that are cut to `[:, 1:]` and then given to a function of the project which cuts the same
parameter to `[..., 1:]` again, or as `labels=` to a `...ForCausalLM.from_pretrained()` model, which does so itself.

Why it matters: position t learns token t + 2. The loss falls, since that can be learned, too, and what is generated
leaves out every second token.

Bad:

    labels = ids[:, 1:]
    loss = model(input_ids=ids[:, :-1], labels=labels).loss      # the model moves them on, too

Good:

    loss = model(input_ids=ids, labels=ids).loss

What it cannot see: labels that a data set has moved on already. Heads that are to predict several tokens ahead (MTP,
Medusa, EAGLE) by their names are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A331"
NAME = "labels-shifted-twice"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("labels", "label", "targets", "target", "label_ids", "shift_labels", "shifted_labels")
CHECKLIST = "labels are moved on by one token once"
_LEARNED = re.compile(r"label|target", re.IGNORECASE)
_AHEAD = re.compile(r"mtp|medusa|eagle|multi_?token|draft|ahead|future", re.IGNORECASE)
_SAME = ("contiguous", "clone", "detach", "to", "long", "view", "reshape", "flatten", "squeeze", "cuda")
_SHIFTS_ITSELF = re.compile(r"\b\w{0,60}(?:CausalLM|LMHeadModel)\.from_pretrained\(")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields where labels are moved on the first time."""
    for function in () if file.is_test else project.functions_in(file):
        if _AHEAD.search(function.name):
            continue
        moved = dict(_moved_names(function))
        for call in function.nodes_of(ast.Call):
            if isinstance(call, ast.Call):
                yield from _in_call(call, moved, function, file, project)


def _in_call(
    call: ast.Call, moved: dict[str, ast.stmt], function: Function, file: ProjectFile, project: Project
) -> Iterator[Violation]:
    for target in project.targets(call, function):
        again = dict(_moved_names(target, through=True))
        names = tuple(target.parameters[target.implied :])
        for name, value in given(call, names) if not _AHEAD.search(target.name) else ():
            first = _moved_in(value, moved)
            if first is not None and name in again and _LEARNED.search(name):
                second = step(project.file_with(target), again[name], "and moved on again here")
                yield _told(first, file, f"{target.name.rpartition('.')[2]}() moves them on again", second)
                return
    labels = next((one.value for one in call.keywords if one.arg == "labels"), None)
    first = _moved_in(labels, moved) if labels is not None else None
    if first is not None and any(_SHIFTS_ITSELF.search(ast.unparse(one)) for one, _ in origins(call.func, function,
                                                                                          project)):  # fmt: skip
        second = step(file, call, "this model moves labels on itself")
        yield _told(first, file, f"{ast.unparse(call.func)}() moves them on itself", second)


def _told(first: ast.AST, file: ProjectFile, again: str, second: ExplanationStep) -> Violation:
    return violation(
        file,
        first,
        f"these labels are moved on by one token, and {again}: each position learns the token after the next one",
        "move them on once: give the labels as they are, beside the logits of all positions",
        steps=(second,),
        confidence=Confidence.LIKELY,
    )


def _moved_names(function: Function, *, through: bool = False) -> Iterator[tuple[str, ast.stmt]]:
    """Yields the names that are bound to labels moved on; `through`, what they are made of, also by way of itself."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        base = _moved(node.value)
        if base is not None and (through or _LEARNED.search(node.targets[0].id)):
            yield (ast.unparse(base) if through else node.targets[0].id), node


def _moved_in(value: ast.expr, moved: dict[str, ast.stmt]) -> ast.AST | None:
    """Returns where what is given was moved on; None where it was not."""
    value = _plain(value)
    if isinstance(value, ast.Name):
        return moved.get(value.id)
    return value if _moved(value) is not None and _LEARNED.search(ast.unparse(value)) else None


def _moved(value: ast.expr) -> ast.expr | None:
    """Returns what `x[:, 1:]` or `x[..., 1:]` is cut of; None of anything else."""
    value = _plain(value)
    cut = value.slice if isinstance(value, ast.Subscript) else None
    if not isinstance(cut, ast.Tuple) or len(cut.elts) != 2 or not isinstance(cut.elts[1], ast.Slice):
        return None
    last = cut.elts[1]
    begins = isinstance(last.lower, ast.Constant) and last.lower.value == 1
    return value.value if isinstance(value, ast.Subscript) and begins and last.upper is None else None


def _plain(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return value
