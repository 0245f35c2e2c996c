"""What reaches one rank and not another: what a signal handler sets, an exception handed to `__exit__`. Pure.

A signal reaches one rank before another, and some ranks never.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.taint_sources import EXCEPTION, SIGNAL, Taint
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import Callable_

_REGISTERS = ("signal", "add_signal_handler")


def told_from_outside(program: CallGraph) -> Iterator[tuple[ast.expr, Function, Taint]]:
    """Yields (name or attribute, function in whose sight it stands, why it differs)."""
    yield from _signal_flags(program)
    for name in ("__exit__", "__aexit__"):
        for leaves in program.by_name.get(name, ()):
            given = leaves.syntax.args.args[1:4] if isinstance(leaves.syntax, Callable_) else []
            for one in given if leaves.owner is not None else ():
                taint = Taint(EXCEPTION, leaves.file, one.lineno, leaves.name, syntax=one)
                yield ast.copy_location(ast.Name(one.arg, ast.Store()), one), leaves, taint


def _signal_flags(program: CallGraph) -> Iterator[tuple[ast.expr, Function, Taint]]:
    """Yields the same for each thing that a signal handler sets."""
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
