"""A window is normalised by statistics of all of it, and then cut into the past and what is to be forecast.

What it does: flags a mean, deviation, least, most or quantile of a whole window (a slice of a series from a place to a
place, or each row of an array of windows) by which that window is normalised, or a scaler that is fitted to it, where
the result is then cut at one place into what the model is given and what it is to forecast.

Why it matters: the past is shifted and scaled by numbers that the future has a share in. The mean of what the model is
given says where the future lies: it learns to read that, in training, validation and test alike, and the score is one
that nothing reaches where the future is not known yet.

Bad:

    window = self.data[i : i + self.lookback + self.horizon]
    window = (window - window.mean(0)) / window.std(0)
    return window[: self.lookback], window[self.lookback :]

Good:

    past = window[: self.lookback]
    window = (window - past.mean(0)) / past.std(0)

What it cannot see: windows that are cut in another function than the one that normalises them, and masks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A525"
NAME = "window-normalised-with-future"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("mean", "std", "min", "max", "amin", "amax", "median", "quantile", "var", "fit_transform")
SUBJECT = ("horizon", "lookback", "pred_len", "forecast")
CHECKLIST = "windows are normalised by their past alone"
_STATISTICS = frozenset(["mean", "std", "var", "min", "max", "amin", "amax", "median", "quantile", "nanmean", "nanstd",
                         "std_mean", "var_mean", "percentile", "ptp"])  # fmt: skip
_FITS = "fit_transform"
_FORECASTS = re.compile(r"forecast|horizon|look_?(?:back|ahead)|future|pred_?len|history|n_?(?:ahead|future|past)",
                        re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cut:
    """One piece of an array along an axis: up to an index, or from it on."""

    axis: int
    index: str
    before: bool
    node: ast.Subscript


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the statistics that the future has a share in."""
    if file.is_test or not _FORECASTS.search(file.text):
        return
    for function in project.functions_in(file):
        if function.name.rpartition(".")[2] == "forward":
            continue  # layers norm features, and cut them into halves
        if not _speaks_of_future(function, project):
            continue
        statements = [one for one in function.nodes_of(ast.Assign) if isinstance(one, ast.Assign)]
        for one in statements:
            name = one.targets[0].id if isinstance(one.targets[0], ast.Name) else ""
            found = _normalised(one, function, project) if name else None
            if found is None:
                continue
            window, statistic, where = found
            end = min((each.lineno for each in statements if each.lineno > one.lineno and _sets(each, name)),
                      default=1 << 30)  # fmt: skip
            cuts = [cut for cut in _cuts(name, function) if one.lineno < cut.node.lineno <= end]
            for past, future in _complements(cuts):
                if not _is_window(window, one.lineno, function) and not _is_along(statistic, past.axis):
                    continue
                yield violation(
                    project.file_with(where),
                    statistic,
                    f"`{ast.unparse(statistic)[:60]}` is of the whole window, and `{name}` is cut at {past.index} "
                    "behind it: what the model is given is normalised by what it is to forecast",
                    f"take the statistics of the past alone: {window}[:{past.index}]",
                    steps=(
                        step(file, one, "normalised by it, as a whole"),
                        step(file, past.node, "what the model is given"),
                        step(file, future.node, "what it is to forecast"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _speaks_of_future(function: Function, project: Project) -> bool:
    kind = project.class_of(function)
    syntax = kind if kind is not None else function.syntax
    lines = project.file_with(function).text.splitlines()[
        getattr(syntax, "lineno", 1) - 1 : getattr(syntax, "end_lineno", None)
    ]
    # Taking a class apart into text costs a hundred times a look at its lines, which most do not outlive.
    return any(_FORECASTS.search(line) for line in lines) and bool(_FORECASTS.search(ast.unparse(syntax)))


def _normalised(statement: ast.Assign, function: Function, project: Project) -> tuple[str, ast.expr, Function] | None:
    """Returns (window, statistic of it, where that stands) of what a statement normalises."""
    value = statement.value
    for node in walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) == _FITS and node.args:
            if isinstance(node.args[0], ast.Name):
                return node.args[0].id, node, function
        elif isinstance(node, ast.Call) and len(node.args) >= 1 and isinstance(node.args[0], ast.Name):
            own = _of_helper(node, function, project)
            if own is not None:
                return node.args[0].id, *own
    return _by_statistics(value, function, statement.lineno)


def _by_statistics(value: ast.expr, function: Function, line: int) -> tuple[str, ast.expr, Function] | None:
    """Returns the first statistic of a name that an expression takes from the same name, or divides it by."""
    found: list[tuple[str, ast.expr]] = []
    for node in walk(value):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div))):
            continue
        for window in {one.id for one in walk(node.left) if isinstance(one, ast.Name)}:
            for part in walk(node.right):
                by = _named_statistic(part.id, window, function, line) if isinstance(part, ast.Name) else None
                if (one := by or _statistic_of(part, window)) is not None:
                    found.append((window, one))
    if not found:
        return None
    return *min(found, key=lambda one: (one[1].lineno, one[1].col_offset)), function


def _statistic_of(value: ast.AST, window: str) -> ast.expr | None:
    """Returns a value that is a statistic of all of a name: `w.mean(0)`, `np.std(w, axis=0)`."""
    if not (isinstance(value, ast.Call) and last_name(value.func) in _STATISTICS):
        return None
    owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id == window:
        return value
    return value if value.args and isinstance(value.args[0], ast.Name) and value.args[0].id == window else None


def _named_statistic(name: str, window: str, function: Function, line: int) -> ast.expr | None:
    """Returns the statistic of a window that a name was set to before a line, where the window was the same then."""
    for node in reversed(function.nodes_of(ast.Assign)):
        assert isinstance(node, ast.Assign)  # noqa: S101 (asked for by kind)
        if node.lineno >= line:
            continue
        if _sets(node, name):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                value = next(part for one, part in zip(target.elts, value.elts, strict=True)
                             if isinstance(one, ast.Name) and one.id == name)  # fmt: skip
            return next((found for part in walk(value) if (found := _statistic_of(part, window)) is not None), None)
        if _sets(node, window):
            return None
    return None


def _of_helper(call: ast.Call, function: Function, project: Project) -> tuple[ast.expr, Function] | None:
    """Returns the statistic by which a function of the program normalises what it is given first."""
    targets = project.targets(call, function)
    if len(targets) != 1 or len(targets[0].parameters) <= targets[0].implied:
        return None
    given = targets[0].parameters[targets[0].implied]
    for node in targets[0].nodes_of(ast.Return):
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and not isinstance(value, ast.Tuple):
            found = _by_statistics(value, targets[0], node.lineno)  # type: ignore[attr-defined]
            if found is not None and found[0] == given:
                return found[1], targets[0]
    return None


def _sets(node: ast.Assign, name: str) -> bool:
    parts = [each for one in node.targets for each in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
    return any(isinstance(one, ast.Name) and one.id == name for one in parts)


def _cuts(name: str, function: Function) -> Iterator[_Cut]:
    for node in function.nodes_of(ast.Subscript):
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for axis, one in enumerate(parts):
            if isinstance(one, ast.Slice) and one.step is None and (one.lower is None) != (one.upper is None):
                index = one.upper if one.upper is not None else one.lower
                yield _Cut(axis, ast.unparse(index), one.upper is not None, node)  # type: ignore[arg-type] # one is there
            if not isinstance(one, ast.Slice) or one.lower is not None or one.upper is not None:
                break


def _complements(cuts: list[_Cut]) -> Iterator[tuple[_Cut, _Cut]]:
    """Yields (past, future) of what is cut at one place; a shift by one is no cut."""
    for past in cuts:
        for future in cuts if past.before else ():
            if not future.before and (past.axis, past.index) == (future.axis, future.index) and past.index != "1":
                yield past, future


def _is_window(name: str, line: int, function: Function) -> bool:
    """Whether a name is a slice of a series from a place to a place that differ from call to call, or turn to turn."""
    before = [one for one in function.nodes_of(ast.Assign) if isinstance(one, ast.Assign) and one.lineno < line]
    made = next((one.value for one in reversed(before) if _sets(one, name)), None)
    varying = {*function.parameters[function.implied :], *_loop_names(function)}
    for node in walk(made) if made is not None else ():
        if isinstance(node, ast.Slice) and node.lower is not None and node.upper is not None and node.step is None:
            names = {one.id for one in walk(node.lower) if isinstance(one, ast.Name)}
            inside = {part.id for one in names for value in function.assigned.get(one, [])
                      for part in walk(value) if isinstance(part, ast.Name)}  # fmt: skip
            if (names | inside) & varying:
                return True
    return False


def _loop_names(function: Function) -> set[str]:
    return {
        one.id
        for node in function.nodes_of((ast.For, ast.comprehension))
        for one in walk(node.target)  # type: ignore[attr-defined]
        if isinstance(one, ast.Name)
    }


def _is_along(statistic: ast.expr, axis: int) -> bool:
    """Whether a statistic is one over the axis that is cut, and over that of no other window: never the first."""
    if not axis or not isinstance(statistic, ast.Call):
        return False
    place = 0 if isinstance(statistic.func, ast.Attribute) and isinstance(statistic.func.value, ast.Name) and (
        not statistic.args or isinstance(statistic.args[0], (ast.Constant, ast.Tuple))) else 1  # fmt: skip
    named = [one.value for one in statistic.keywords if one.arg in ("axis", "dim")]
    given = named or statistic.args[place : place + 1]
    over = [part for one in given for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    return bool(over) and all(isinstance(one, ast.Constant) and one.value != 0 for one in over) and any(
        isinstance(one, ast.Constant) and one.value == axis for one in over
    )  # fmt: skip
