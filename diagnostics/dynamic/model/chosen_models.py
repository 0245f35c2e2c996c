"""The line that chose which model is called: outwards from the call while that is a parameter. Pure.

A helper calls what it is given. Which object that is was decided where the helper was called with it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def choosing_frame(job: Job, path: Sequence[Frame]) -> int:
    """Returns which frame of a call path, innermost first, names the model by something other than a parameter."""
    if not path:
        return 0
    here = _function(job, path[0])
    names = {one.func.id for one in _calls(job, path[0]) if isinstance(one.func, ast.Name)} & set(_parameters(here))
    for index, outer in enumerate(path[1:], 1):
        name = next(iter(names)) if len(names) == 1 else None
        given = _given(job, outer, here, name) if here is not None and name is not None else None
        if given is None:
            return index - 1
        here = _function(job, outer)
        names = {given.id} & set(_parameters(here)) if isinstance(given, ast.Name) else set()
        if not names:
            return index
    return len(path) - 1


def _given(job: Job, outer: Frame, callee: _Definition, name: str) -> ast.expr | None:
    """Returns what the call at `outer` hands to the parameter `name` of `callee`, None where that is not seen."""
    calls = [one for one in _calls(job, outer) if _tail(one.func) == callee.name]
    if len(calls) != 1:
        return None
    (call,) = calls
    positional = [one.arg for one in (*callee.args.posonlyargs, *callee.args.args)]
    keyword = next((one.value for one in call.keywords if one.arg == name), None)
    if keyword is not None or name not in positional:
        return keyword
    bound = positional[0] in ("self", "cls") and isinstance(call.func, ast.Attribute)
    at = positional.index(name) - bound
    if at < 0:
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    if any(isinstance(one, ast.Starred) for one in call.args[: at + 1]) or at >= len(call.args):
        return None
    return call.args[at]


def _calls(job: Job, frame: Frame) -> list[ast.Call]:
    return job.sources.file(frame.file).calls_at(frame.line)


def _function(job: Job, frame: Frame) -> _Definition | None:
    return job.sources.file(frame.file).function_at(frame.line)


def _parameters(function: _Definition | None) -> list[str]:
    arguments = function.args if function is not None else None
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)] if arguments else []


def _tail(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
