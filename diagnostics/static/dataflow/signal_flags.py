"""What a signal handler sets: a signal reaches one rank before another, and some ranks never. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.taint_sources import SIGNAL, Taint
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function, last_name

_REGISTERS = {"signal", "add_signal_handler"}


def signal_flags(program: CallGraph) -> Iterator[tuple[ast.expr, Function, Taint]]:
    """Yields (name or attribute, function in whose sight it stands, why it differs) for each thing a handler sets."""
    for name in _REGISTERS:
        for call, function in program.calls_by_name.get(name, ()):
            if len(call.args) < 2 or "SIG" not in ast.unparse(call.args[0]):
                continue
            for handler in program.meant(call.args[1], function):
                for target in _set_in(handler):
                    taint = Taint(SIGNAL, handler.file, target.lineno, handler.name, control=True, syntax=target)
                    yield target, _scope(target, handler), taint


def _set_in(handler: Function) -> Iterator[ast.expr]:
    """Yields what a handler sets to a constant, or raises as an event."""
    for node in handler.own_nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from node.targets
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            yield from [node.func.value] if node.func.attr == "set" else []


def _scope(target: ast.expr, handler: Function) -> Function:
    """Returns the function whose name a handler sets: that of `global` and `nonlocal`, else of the handler."""
    scope = handler
    outside = {
        name
        for node in handler.nodes_of((ast.Global, ast.Nonlocal))
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    name = last_name(target)
    read = isinstance(getattr(target, "ctx", None), ast.Load) and name not in handler.assigned
    while (name in outside or read) and scope.outer is not None:
        scope = scope.outer
        if name in scope.assigned or name in scope.parameters:
            break
    return scope
