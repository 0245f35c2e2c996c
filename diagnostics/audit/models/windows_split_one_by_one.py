"""Overlapping windows of a series are split by chance, so that what a test window forecasts stands in training windows.

What it does: flags pieces of a random order, random_split() and train_test_split() of windows that a function cuts out
of one series, each one place further than the one before it, together with the values that follow: what is forecast.

Why it matters: neighbours share all hours but one. With a fifth held out, the values that a test window is to forecast
are targets or inputs of training windows nearly always: the error is that of values learned by heart.

Bad:

    xs = [series[t : t + history] for t in range(n)]
    ys = [series[t + history] for t in range(n)]
    train, test = order[:cut], order[cut:]           # order = randperm(n)

Good:

    train, test = range(cut), range(cut + history + horizon, n)      # by time, with a gap

What it cannot see: windows that are cut in `__getitem__`, and series that were cut into windows before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.edge_splits import splits
from diagnostics.static.samples.windows import windows_of

CODE = "A381"
NAME = "windows-split-one-by-one"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("randperm", "permutation", "shuffle", "train_test_split", "random_split")
CHECKLIST = "windows of one series are split by time"
_HELD_OUT = re.compile(r"(?:^|_)(?:x|y)?(?:val|valid|validation|test|eval|dev|held)(?:_|$)", re.IGNORECASE)
_TRAINED = re.compile(r"train|(?:^|_)fit(?:_|$)", re.IGNORECASE)
_SPLITS = frozenset(["torch.utils.data.random_split", "torch.utils.data.dataset.random_split"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the random orders by which windows that overlap are split."""
    for function in () if file.is_test else project.functions_in(file):
        for value, place in _split(function, project):
            found = windows_of(value, function, project)
            if found is None:
                continue
            cut, where = found
            base = ast.unparse(cut.value)
            yield violation(
                file,
                place,
                f"the windows of '{base}' overlap by all but one place and are split by chance: what those held out "
                "are to forecast stands in windows that are trained on",
                "split by time, before the windows are cut or with a gap of a window's length",
                steps=(step(project.file_with(where), cut, "each window begins one place further"),),
                confidence=Confidence.LIKELY,
            )
            break


def _split(function: Function, project: Project) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yields (what is split by chance into training and held-out parts, where)."""
    for split in splits(function, project):
        held = any(_HELD_OUT.search(name) for name, _ in split.parts)
        if held and any(_TRAINED.search(name) for name, _ in split.parts) and not _shuffle_off(split.place):
            yield split.value, split.place
    for call in function.nodes_of(ast.Call):
        if isinstance(call, ast.Call) and project.name(call.func, function) in _SPLITS and call.args:
            yield call.args[0], call


def _shuffle_off(place: ast.AST) -> bool:
    """Whether train_test_split is told to keep the order."""
    return isinstance(place, ast.Call) and any(
        one.arg == "shuffle" and isinstance(one.value, ast.Constant) and not one.value.value for one in place.keywords
    )
