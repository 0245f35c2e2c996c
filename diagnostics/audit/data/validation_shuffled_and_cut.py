"""The loader for validation is shuffled and leaves out its last batch: each validation measures another part.

What it does: flags a DataLoader for validation or test, also one that a function of the project makes for training and
validation alike, with `shuffle=True` and a `drop_last` that is on, or that an option turns on, in a program that keeps
its best checkpoint.

Why it matters: the samples that are left out are others each time. The metric moves with them, and decides what the
best checkpoint is and when the training stops; with a set smaller than one batch nothing is measured at all.

Bad:

    val_loader = DataLoader(val_set, 64, shuffle=True, drop_last=True)

Good:

    val_loader = DataLoader(val_set, 64)

What it cannot see: what an option is set to, and loaders whose batches are only looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.object_kinds import argument, given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A182"
NAME = "validation-shuffled-and-cut"
SEVERITY = Severity.WARNING
WORDS = ("DataLoader", "loader", "dataloader")
CHECKLIST = "each validation measures all of its samples"
_MEASURES = re.compile(r"(?:^|_)(?:val|valid|validation|eval|dev|test)(?:_|$)", re.IGNORECASE)
_PARAMETERS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn",
               "pin_memory", "drop_last")  # fmt: skip
_UNKNOWN = object()
_DEPTH = 3
Known = dict[str, object]


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loaders that measure another part each time."""
    words = project.fact(ImportClosures).words(file.shown)
    if file.is_test or not any("best" in word.lower() for word in words) or "backward" not in words:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            name = last_name(node.targets[0])
            if "loader" not in name.lower() or not _MEASURES.search(name.replace("loader", "_loader")):
                continue
            made = next(_loaders(node.value, function, {}, project, _DEPTH), None)
            if made is None:
                continue
            call, where, drops = made
            yield violation(
                file,
                node,
                f"'{name}' is shuffled and leaves out its last batch{'' if drops else ', where an option says so'}: "
                "each validation measures another part of the samples, and decides by it what is best",
                "neither shuffle nor drop_last for what is measured",
                steps=(step(project.file_with(where), call, "the loader is made here"),),
                confidence=Confidence.LIKELY,
            )


def _loaders(
    call: ast.Call, function: Function, known: Known, project: Project, depth: int
) -> Iterator[tuple[ast.Call, Function, bool]]:
    """Yields (DataLoader, where it is made, whether it surely drops) of what a call gives, shuffled and cut."""
    if project.name(call.func, function) == "torch.utils.data.DataLoader":
        parts = {
            name: argument(call, name, _PARAMETERS) for name in ("shuffle", "drop_last", "sampler", "batch_sampler")
        }
        values = {name: _value(one, function, known) if one is not None else None for name, one in parts.items()}
        dealt = any(values[name] is not None for name in ("sampler", "batch_sampler"))
        if not dealt and values["shuffle"] is True and (values["drop_last"] is True or values["drop_last"] is _UNKNOWN):
            yield call, function, values["drop_last"] is True
        return
    for target in project.targets(call, function) if depth else ():
        inner: Known = {}
        handed = dict(given(call, target.parameters[target.implied :]))
        for name in target.parameters[target.implied :]:
            value, default = handed.get(name), default_of(target, name)
            inner[name] = _value(value, function, known) if value is not None else (
                _value(default, target, {}) if default is not None else _UNKNOWN)  # fmt: skip
        for node in target.nodes_of(ast.Return):
            back = node.value if isinstance(node, ast.Return) else None
            if isinstance(back, ast.Name) and len(target.assigned.get(back.id, ())) == 1:
                back = target.assigned[back.id][0]
            if isinstance(back, ast.Call):
                yield from _loaders(back, target, inner, project, depth - 1)


def _value(value: ast.expr, function: Function, known: Known, depth: int = 4) -> object:
    """Returns what an expression is with what is known of the parameters; _UNKNOWN where that does not say."""
    if isinstance(value, ast.Constant):
        return value.value
    if isinstance(value, ast.UnaryOp):
        inner = _value(value.operand, function, known, depth)
        if isinstance(value.op, ast.Not):
            return inner if inner is _UNKNOWN else not inner
        return -inner if isinstance(value.op, ast.USub) and isinstance(inner, (int, float)) else _UNKNOWN
    if isinstance(value, ast.Name) and depth:
        made = function.assigned.get(value.id, [])
        if value.id in known:
            return _UNKNOWN if made else known[value.id]
        return _value(made[0], function, known, depth - 1) if len(made) == 1 else _UNKNOWN
    if isinstance(value, ast.BoolOp):
        parts = [_value(one, function, known, depth) for one in value.values]
        stops = isinstance(value.op, ast.Or)
        if any(one is not _UNKNOWN and bool(one) is stops for one in parts):
            return stops
        return _UNKNOWN if any(one is _UNKNOWN for one in parts) else not stops
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        left, right = (_value(one, function, known, depth) for one in (value.left, value.comparators[0]))
        if left is _UNKNOWN or right is _UNKNOWN:
            return _UNKNOWN
        same = isinstance(value.ops[0], (ast.Eq, ast.Is))
        return (left == right) is same if same or isinstance(value.ops[0], (ast.NotEq, ast.IsNot)) else _UNKNOWN
    if isinstance(value, ast.IfExp):
        test = _value(value.test, function, known, depth)
        if test is not _UNKNOWN:
            return _value(value.body if test else value.orelse, function, known, depth)
    return _UNKNOWN
