"""What in the making of a value is another one in each process: the time, chance. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.agreed_values import AgreedValues
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.taint_rules import agrees
from diagnostics.static.dataflow.taint_sources import RANDOM, TIME, source_of
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_DEEPEST = 4
_TEMPORARY = frozenset(
    ["mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile", "gettempdir", "TemporaryFile",
     "SpooledTemporaryFile", "BytesIO", "StringIO"]
)  # fmt: skip


def own_source(value: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns the clock or the random number that a value is made of on each rank, None where none is seen."""
    return next((one for one in _sources(value, function, project, _DEEPEST, set())), None)


def is_of_own_folder(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a path lies in a temporary folder, or is named by a clock or random number: each rank has another one."""
    if own_source(value, function, project) is not None:
        return True
    for made, where in origins(value, function, project):
        names = [node for node in walk(made) if node is not value and isinstance(node, (ast.Name, ast.Attribute))]
        inner = [one for name in names for one, _ in origins(name, where, project)]
        if any(isinstance(node, ast.Call) and _is_temporary(node) for one in (made, *inner) for node in walk(one)):
            return True
    return False


def _is_temporary(call: ast.Call) -> bool:
    return last_name(call.func) in _TEMPORARY


def _sources(value: ast.expr, function: Function, project: Project, depth: int, seen: set[int]) -> Iterator[Origin]:
    for made, where in origins(value, function, project):
        if id(made) in seen:
            continue
        seen.add(id(made))
        if any(isinstance(node, ast.Call) and agrees(last_name(node.func)) for node in walk(made)):
            continue
        for node in walk(made):
            if source_of(node) in (TIME, RANDOM):
                if isinstance(node, ast.expr) and not is_rank_guarded(node, where, project, 1):
                    yield node, where
            elif depth and node is not made and isinstance(node, ast.expr) and _is_made_elsewhere(node, where, project):
                yield from _sources(node, where, project, depth - 1, seen)


def _is_made_elsewhere(node: ast.expr, function: Function, project: Project) -> bool:
    """Whether another expression makes a value: of a name that no collective has filled since, of a call."""
    if isinstance(node, ast.Call):
        return bool(project.targets(node, function))
    if isinstance(node, ast.Name) and project.fact(AgreedValues).filled_before(node, function):
        return False
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
