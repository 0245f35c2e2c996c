"""The parts for training and for validation come out of two random splits of the same data.

What it does: flags two calls of random_split or train_test_split over the same data with the same sizes, without a seed
of their own, where one keeps the first part and the other one the last.

Why it matters: each call draws another permutation. With a fifth held out, four of five samples that the model is
measured on are among those that it was trained on: the validation loss falls with the training's, and no test of the
program notices.

Bad:

    train, _ = random_split(augmented, lengths)
    _, val = random_split(plain, lengths)

Good:

    train, _ = random_split(augmented, lengths, generator=torch.Generator().manual_seed(0))
    _, val = random_split(plain, lengths, generator=torch.Generator().manual_seed(0))

What it cannot see: splits in two programs, and permutations that are drawn by hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.traced_calls import is_seed
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A176"
NAME = "separate-random-splits"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("random_split", "train_test_split")
CHECKLIST = "training and validation are parts of one split"
_SPLITS = {"torch.utils.data.random_split": "generator", "torch.utils.data.dataset.random_split": "generator",
           "sklearn.model_selection.train_test_split": "random_state"}  # fmt: skip
_SEES_ALIKE = re.compile(r"transform|augment|\baug|preproc|processor|crop|tokeniz", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    call: ast.Call
    function: Function
    kept: frozenset[int]
    parts: int


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the second of two splits whose parts overlap."""
    splits = (
        [] if file.is_test else [one for each in project.functions_in(file) for one in _splits(each, file, project)]
    )
    for at, second in enumerate(splits):
        first = next((one for one in splits[:at] if _overlap(one, second)), None)
        if first is None:
            continue
        yield violation(
            file,
            second.call,
            f"each call of {last_name(second.call.func)} draws a permutation of its own: most of what this part holds "
            "is in the part that the other call kept, too",
            "split once and keep both parts, or give both calls the same seed: "
            "generator=torch.Generator().manual_seed(0)",
            steps=(step(file, first.call, "the same data is split here, and another part of it is kept"),),
            confidence=Confidence.LIKELY,
        )


def _splits(function: Function, file: ProjectFile, project: Project) -> Iterator[_Split]:
    """Yields the splits of which one part is kept and no seed is given."""
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call) or (seed := _SPLITS.get(project.name(call.func, function))) is None:
            continue
        if any(one.arg in (seed, None) for one in call.keywords) or len(call.args) > 2 or not call.args:
            continue
        kept, parts = _kept(call, function, file)
        seeded = any(
            isinstance(one, ast.Call) and is_seed(last_name(one.func)) and one.lineno < call.lineno
            for one in function.nodes_of(ast.Call)
        )
        if kept and not (seeded and function.name != "<module>" and _is_alone(call, function, project)):
            yield _Split(call, function, kept, parts)


def _is_alone(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a function splits once: a seed before it is then the split's own."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    return sum(project.name(one.func, function) in _SPLITS for one in calls) == 1 and call in calls


def _kept(call: ast.Call, function: Function, file: ProjectFile) -> tuple[frozenset[int], int]:
    """Returns which parts of a split are used, and of how many; none where that is not known."""
    outer = file.parents.get(call)
    if isinstance(outer, ast.Subscript) and outer.value is call:
        index = outer.slice
        if (
            isinstance(index, ast.UnaryOp)
            and isinstance(index.op, ast.USub)
            and isinstance(index.operand, ast.Constant)
        ):
            return frozenset([-1]), 2
        return (frozenset([index.value]), 2) if isinstance(index, ast.Constant) and isinstance(index.value, int) else (
            frozenset(), 0)  # fmt: skip
    if not (isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Tuple)):
        return frozenset(), 0
    names = [one.id if isinstance(one, ast.Name) else "" for one in outer.targets[0].elts]
    if "" in names:
        return frozenset(), 0
    read = {node.id for node in function.nodes_of(ast.Name) if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)}  # fmt: skip
    kept = frozenset(at for at, name in enumerate(names) if not name.startswith("_") and name in read)
    return (kept, len(names)) if len(kept) < len(names) else (frozenset(), 0)


def _overlap(first: _Split, second: _Split) -> bool:
    """Whether two splits of the same data keep different parts, and nothing makes them draw alike."""
    if first.kept & second.kept or not first.kept or (-1 in first.kept | second.kept and 1 in first.kept | second.kept):
        return False
    if last_name(first.call.func) != last_name(second.call.func) or _sizes(first.call) != _sizes(second.call):
        return False
    if first.function is second.function and any(
        isinstance(one, ast.Call)
        and is_seed(last_name(one.func))
        and first.call.lineno < one.lineno < second.call.lineno
        for one in first.function.nodes_of(ast.Call)
    ):
        return False
    return _is_same(first.call.args[0], first.function, second.call.args[0], second.function)


def _sizes(call: ast.Call) -> str:
    named = sorted(f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords)
    return " ".join([*(ast.unparse(one) for one in call.args[1:]), *named])


def _is_same(one: ast.expr, here: Function, other: ast.expr, there: Function) -> bool:
    """Whether two expressions name the same data, seen through other transforms perhaps."""
    if isinstance(one, ast.Name) and isinstance(other, ast.Name):
        mine, others = here.assigned.get(one.id, []), there.assigned.get(other.id, [])
        if here is there and one.id == other.id:
            return len(mine) <= 1
        return len(mine) == len(others) == 1 and _is_made_alike(mine[0], others[0])
    if isinstance(one, ast.Call) and isinstance(other, ast.Call):
        return _is_made_alike(one, other)
    return isinstance(one, ast.Attribute) and here.owner is there.owner and ast.unparse(one) == ast.unparse(other)


def _is_made_alike(one: ast.expr, other: ast.expr) -> bool:
    if not (isinstance(one, ast.Call) and isinstance(other, ast.Call)):
        return ast.unparse(one) == ast.unparse(other) and not isinstance(one, ast.Name)
    if ast.unparse(one.func) != ast.unparse(other.func):
        return False
    return _given(one) == _given(other)


def _given(call: ast.Call) -> list[str]:
    """Returns what a call gives but for how samples are changed."""
    positional = [f"{at} {ast.unparse(one)}" for at, one in enumerate(call.args)]
    named = sorted(f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords)
    return [one for one in (*positional, *named) if not _SEES_ALIKE.search(one)]
