"""Why a test falls by what the rank alone has: its values, and what a metric has gathered before compute(). Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.local_taint import rank_local_values
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import DATA, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.spmd.library_objects import LibraryType, LibraryTypes

# What a metric counts for itself; its states are synchronised in compute() alone.
_COUNTS = frozenset(["update_called", "update_count", "_update_called", "_update_count"])


def own_reasons(test: ast.expr, function: Function, taints: RankTaint, objects: LibraryTypes) -> Iterator[Taint]:
    """Yields why a test can fall differently on another rank, by what each has worked out or gathered."""
    yield from rank_local_values(test, function, taints)
    for held in _asked_of_states(test):
        if LibraryType.METRIC in objects.of(held.value, function):
            state = ast.Name(held.attr, ast.Load())
            yield Taint(DATA, function.file, held.lineno, function.name, syntax=state)


def _asked_of_states(test: ast.expr) -> Iterator[ast.Attribute]:
    """Yields the attributes of which a test asks whether anything is in them: `len(m.preds)`, `not m.update_called`."""
    for node in walk(test):
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute() as held]):
                yield held
            case ast.Attribute(attr=name) if name in _COUNTS:
                yield node
            case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as held) if held.attr not in _COUNTS:
                yield held
