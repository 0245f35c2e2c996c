"""Which line decided how long a schedule is: outwards from its constructor while its length is handed in. Pure.

A factory, `def cosine(optimizer, warmup, total)`, makes a schedule of as many steps as it is told. That these are
too few or too many stands where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk

_MOST_FRAMES = 4
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def length_given_at(job: Job, path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the frames of a call path, innermost first, from the one on that is not told the length."""
    for index, frame in enumerate(path[:_MOST_FRAMES]):
        source = job.sources.file(frame.file)
        function = source.function_at(frame.line)
        if function is None or not any(_is_told(call, function) for call in source.calls_at(frame.line)):
            return tuple(path[index:])
    return tuple(path)  # handed on too often to be one factory


def _is_told(call: ast.Call, function: _Definition) -> bool:
    """Whether an argument behind the first, the optimizer, is made of nothing but parameters of the function."""
    handed = (*call.args[1:], *(one.value for one in call.keywords if one.arg not in ("optimizer", "last_epoch")))
    told = _parameters(function)
    return any(told & set(_names(one, function)) for one in handed)


def _parameters(function: _Definition) -> set[str]:
    """Returns the parameters without a default, whatever the method belongs to: an own default is its decision."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    plain = arguments[: len(arguments) - len(function.args.defaults)]
    named = [one for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if not value]
    return {one.arg for one in (*plain, *named)} - {"self", "cls"}


def _names(value: ast.expr, function: _Definition) -> Iterator[str]:
    """Yields the names of numbers that a value is made of; for a function defined here, those of its body."""
    inner = next((one for one in _defined(function) if isinstance(value, ast.Name) and one.name == value.id), None)
    owners = {id(one.value) for one in walk(inner or value) if isinstance(one, (ast.Attribute, ast.Subscript))}
    for one in walk(inner or value):
        if isinstance(one, ast.Name) and id(one) not in owners:
            yield one.id


def _defined(function: _Definition) -> list[_Definition]:
    return [one for one in walk(function) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
