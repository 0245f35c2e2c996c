"""Which line decided when an optimizer is made: outwards from its constructor while the model is handed in. Pure.

A factory, `def make_optimizer(model, config)`, makes what it is asked for. That it was asked before a layer was
replaced, or before the model was wrapped, stands where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk

_MOST_FRAMES, _MOST_STEPS = 4, 10
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def deciding_frame(job: Job, path: Sequence[Frame]) -> int:
    """Returns which frame of a call path, innermost first, does not get the model from its caller."""
    for index, frame in enumerate(path[:_MOST_FRAMES]):
        source = job.sources.file(frame.file)
        function = source.function_at(frame.line)
        given = [
            one for call in source.calls_at(frame.line) for one in (*call.args, *(each.value for each in call.keywords))
        ]
        if function is None or not any(_is_given(one, function, _MOST_STEPS) for one in given):
            return index
    return 0  # handed on too often to be one factory


def _is_given(value: ast.expr, function: _Definition, steps: int) -> bool:
    """Whether parameters, or the model that they are of, come from a parameter of the function; not self's."""
    if not steps:
        return False
    match value:
        case ast.Name(id=name):
            arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            if name in {one.arg for one in arguments[1:] if one.arg} or (
                arguments and arguments[0].arg == name and name not in ("self", "cls")
            ):
                return _is_model(name, function)
            return any(_is_given(one, function, steps - 1) for one in _assigned(name, function))
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method.endswith("parameters"):
            return isinstance(owner, (ast.Name, ast.Attribute)) and _is_given(owner, function, steps - 1)
        case ast.Call(func=ast.Name(id="filter" | "list" | "chain" | "tuple" | "set" | "sorted"), args=arguments):
            return any(_is_given(one, function, steps - 1) for one in arguments)
        case ast.Attribute(value=owner):
            return _is_given(owner, function, steps - 1)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return any(_is_given(one, function, steps - 1) for one in items)
        case ast.Dict(values=items):
            return any(_is_given(one, function, steps - 1) for one in items)
        case ast.ListComp(generators=loops) | ast.GeneratorExp(generators=loops):
            return any(_is_given(one.iter, function, steps - 1) for one in loops)
    return False


def _is_model(name: str, function: _Definition) -> bool:
    """Whether a parameter is asked for parameters, or handed on whole: a configuration is neither."""
    asked = (one for one in walk(function) if isinstance(one, ast.Attribute) and one.attr.endswith("parameters"))
    return any(isinstance(one.value, ast.Name) and one.value.id == name for one in asked)


def _assigned(name: str, function: _Definition) -> list[ast.expr]:
    return [
        node.value
        for node in walk(function)
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
