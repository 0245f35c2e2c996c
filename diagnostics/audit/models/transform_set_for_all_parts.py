"""The transform that is set for one part of a split is that of all its parts: they share one data set.

What it does: flags `val_set.dataset.transform = ...` behind random_split() or Subset() of a data set that was made with
another transform, and two such assignments to parts of the same data set, of which the latter holds for both.

Why it matters: a Subset holds no data, only indices and the data set itself. A plain transform set for validation takes
the augmentation from the training, which then overfits; one with augmentation set for training makes each validation
another one.

Bad:

    full = Pictures(root, transform=augment)
    train_set, val_set = random_split(full, [n, m])
    val_set.dataset.transform = plain

Good:

    train_set, val_set = random_split(full, [n, m])
    val_set.dataset = copy.copy(full)
    val_set.dataset.transform = plain

What it cannot see: transforms that are set by a method, and data sets that are handed to another function first.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A380"
NAME = "transform-set-for-all-parts"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-mode"
WORDS = ("random_split", "Subset")
CHECKLIST = "parts of a split that see their samples differently have data sets of their own"
_SPLITS = frozenset(["torch.utils.data.random_split", "torch.utils.data.dataset.random_split"])
_SUBSETS = frozenset(["torch.utils.data.Subset", "torch.utils.data.dataset.Subset"])
_TRANSFORM = re.compile(r"(?:^|_)(?:transforms?|augment(?:s|ation|ations)?|aug)(?:_|$)", re.IGNORECASE)
_TRAINS = re.compile(r"backward$|fit$|fit_|train$|train_(?:epoch|one|model|loop)|run_epoch")


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """`name` stands for a part of the data set `data`, split by `call`."""

    name: str
    data: str
    call: ast.Call


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the transforms that are set for one part and hold for another, too."""
    for function in () if file.is_test else project.functions_in(file):
        parts = {one.name: one for one in _parts(function, project)}
        by_data: dict[str, list[_Part]] = defaultdict(list)
        for one in parts.values():
            by_data[one.data].append(one)
        earlier: dict[tuple[str, str], tuple[ast.Assign, str]] = {}
        for node, name, attribute in _set(function, file):
            part = parts.get(name)
            if part is None or len(by_data[part.data]) < 2 or _has_own(name, function):
                continue
            if node.lineno < part.call.lineno or _trained_before(node, function):
                continue
            before = earlier.setdefault((part.data, attribute), (node, name))
            value = ast.unparse(node.value)
            others = [one.name for one in by_data[part.data] if one is not part and not _has_own(one.name, function)]
            given = _made_with(part.data, attribute, function)
            replaced: ast.AST | None = None
            if before[1] != name and ast.unparse(before[0].value) != value:
                replaced = before[0]
            elif given is not None and ast.unparse(given) != value:
                replaced = given
            if replaced is None or not others:
                continue
            yield violation(
                file,
                node,
                f"'{name}' and '{others[0]}' are parts of one data set, '{part.data}': the {attribute} that is set "
                f"here for '{name}' is that of '{others[0]}', too",
                f"{name}.dataset = copy.copy({part.data}) first, or two data sets and one list of indices for each",
                steps=(
                    step(file, replaced, "this is what it replaces"),
                    step(file, part.call, "a part holds indices and the data set itself, no copy of it"),
                ),
                confidence=Confidence.LIKELY,
            )


def _parts(function: Function, project: Project) -> Iterator[_Part]:
    """Yields the names of parts that are made by one split, or as subsets of one data set."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign):
            continue
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, node.value) for target in node.targets]
        for target, value in list(pairs):
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs += zip(target.elts, value.elts, strict=False)
        for target, value in pairs:
            if not isinstance(value, ast.Call) or not (value.args or value.keywords):
                continue
            called = project.name(value.func, function)
            data = value.args[0] if value.args else value.keywords[0].value
            if not isinstance(data, (ast.Name, ast.Attribute)):
                continue
            names = target.elts if isinstance(target, ast.Tuple) and called in _SPLITS else [target]
            if called in _SPLITS or called in _SUBSETS:
                for one in names:
                    if isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) != "_":
                        yield _Part(ast.unparse(one), ast.unparse(data), value)


def _set(function: Function, file: ProjectFile) -> Iterator[tuple[ast.Assign, str, str]]:
    """Yields (where, part, attribute) of `part.dataset.transform = ...` that is done once, not in turn."""
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign) or _in_turn(node, file):
            continue
        for target in node.targets:
            match target:
                case ast.Attribute(value=ast.Attribute(value=part, attr="dataset"), attr=name):
                    if _TRANSFORM.search(name):
                        yield node, ast.unparse(part), name


def _in_turn(node: ast.AST, file: ProjectFile) -> bool:
    """Whether a statement is in a loop: it may switch between training and validation."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(outer, (ast.For, ast.While)):
            return True
        outer = file.parents.get(outer)
    return False


def _trained_before(node: ast.Assign, function: Function) -> bool:
    """Whether a function trains before a statement: what is set then is for the end."""
    return any(
        isinstance(one, ast.Call) and _TRAINS.match(last_name(one.func)) and one.lineno < node.lineno
        for one in function.nodes_of(ast.Call)
    )


def _has_own(name: str, function: Function) -> bool:
    """Whether a part is given a data set of its own."""
    targets = [target for node in function.nodes_of(ast.Assign) if isinstance(node, ast.Assign)
               for target in node.targets]  # fmt: skip
    return any(
        isinstance(one, ast.Attribute) and one.attr == "dataset" and ast.unparse(one.value) == name for one in targets
    )


def _made_with(data: str, attribute: str, function: Function) -> ast.expr | None:
    """Returns the transform that a data set was made with, or was given since; None where it has none."""
    found: ast.expr | None = None
    for node in function.nodes_of(ast.Assign):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if ast.unparse(target) == f"{data}.{attribute}":
                found = node.value
            elif ast.unparse(target) == data and isinstance(node.value, ast.Call):
                found = next((one.value for one in node.value.keywords if one.arg == attribute), None)
    return None if isinstance(found, ast.Constant) and found.value is None else found
