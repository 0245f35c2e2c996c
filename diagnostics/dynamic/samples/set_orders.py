"""Lines of the program that put the elements of a set in an order, and names that come of it. Pure.

The order of a set of texts differs by process, unless PYTHONHASHSEED is set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk

_ORDERS = ("list", "tuple", "enumerate")
_SETS = ("set", "frozenset")


def set_order_lines(job: Job, process: JobProcess, name: str) -> tuple[Frame, ...]:
    """Returns where a set is put in the order that something of this name has, the order first and then the name."""
    for file_name, file in job_sources(job, process):
        if file.tree is None:
            continue
        nodes = list(walk(file.tree))
        sets = {target for target, value in _assigned(nodes) if _is_set(value, frozenset())}
        ordered: dict[str, int] = {}
        for target, value in _assigned(nodes):
            line = _order_in(value, frozenset(sets), frozenset(ordered))
            if line is not None:
                ordered.setdefault(target, line)
            if target == name and target in ordered:
                first = next((ordered[one] for one in _names_in(value) if one in ordered and one != target), None)
                lines = dict.fromkeys([first if first is not None else ordered[target], value.lineno])
                return tuple(Frame(file=file_name, line=one, function="") for one in lines)
    return ()


def _assigned(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yields (last name of the target, value) of each assignment, in the order of the file."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [(node.lineno, name, node.value) for name in map(_name_of, targets) if name]
    yield from ((name, value) for _, name, value in sorted(found, key=lambda one: one[0]))


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _names_in(value: ast.expr) -> list[str]:
    return [name for node in walk(value) if isinstance(node, ast.expr) and (name := _name_of(node))]


def _is_set(value: ast.expr, sets: frozenset[str]) -> bool:
    if isinstance(value, ast.Set | ast.SetComp):
        return True
    if isinstance(value, ast.BinOp):
        return _is_set(value.left, sets) or _is_set(value.right, sets)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in _SETS
    return _name_of(value) in sets


def _order_in(value: ast.expr, sets: frozenset[str], ordered: frozenset[str]) -> int | None:
    """Returns the line at which a set, or what was made of one, is gone through; None where it is sorted."""
    if any(isinstance(node, ast.Call) and _name_of(node.func) in ("sorted", "sort") for node in walk(value)):
        return None
    for node in walk(value):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ORDERS:
            given = node.args[:1]
        elif isinstance(node, ast.comprehension):
            given = [node.iter]
        if any(_is_set(one, sets) or _name_of(one) in ordered for one in given):
            return value.lineno
    return None
