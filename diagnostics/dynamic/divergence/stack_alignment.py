"""Stacks as levels of the project's own functions, outermost first: where walks begin and what they look for. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from diagnostics.core.frame import Frame, Scalar
from diagnostics.core.frames import is_installed, is_package, user_frames
from diagnostics.static.program.call_graph import CallGraph, Function, is_generator, last_name
from diagnostics.static.program.cfg import GraphNode, NodeKind

_MERGED = re.compile(r"^<(?:listcomp|setcomp|dictcomp|genexpr)>$")
# Library code that only passes a call of a module on: what it calls, it calls once.
_PASSING = re.compile(r"/torch/nn/(?:modules/module|parallel/distributed)\.py$|/functools\.py$|/contextlib\.py$")
MOST_LEVELS = 80


@dataclass(frozen=True)
class StackLevel:
    """One function of the project on a stack. `boxed`: library code stands between it and the level outside."""

    function: Function
    line: int
    boxed: bool
    span: tuple[int, int, int, int] | None = field(default=None, compare=False)  # of what it was executing
    values: tuple[tuple[str, Scalar], ...] = field(default=(), compare=False)  # of the function's variables


@dataclass(frozen=True)
class Stack:
    """The project's levels of one stack; `hidden` where library code stands below the innermost."""

    levels: tuple[StackLevel, ...]
    hidden: Frame | None = None

    @property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """What tells two stacks apart."""
        return tuple((id(level.function), level.line) for level in self.levels)


def own_files(paths: Collection[Sequence[Frame]], agent_folders: Collection[str] = ()) -> tuple[str, ...]:
    """Returns the names of the project's own files on these stacks."""
    folder = next((one for one in agent_folders if one), "")
    frames = (frame for path in paths for frame in user_frames(path, agent_folder=folder))
    return tuple(dict.fromkeys(frame.file for frame in frames if not is_installed(frame)))


def align(path: Sequence[Frame], program: CallGraph) -> Stack:
    """Returns the levels of a stack, whose frames are innermost first."""
    levels: list[StackLevel] = []
    boxed, hidden = False, None
    for frame in reversed(path[: MOST_LEVELS * 8]):
        function = program.function_of(frame) if not is_package(frame) else None
        if function is None:
            boxed = boxed or _PASSING.search(frame.file) is None
            hidden = hidden or (frame if levels else None)
            continue
        merged = _MERGED.match(frame.function.rpartition(".")[2]) or isinstance(function.syntax, ast.Module)
        if levels and levels[-1].function is function and merged:
            levels[-1] = StackLevel(function, frame.line, levels[-1].boxed, frame.span, levels[-1].values)
        else:
            levels.append(StackLevel(function, frame.line, boxed and bool(levels), frame.span, frame.values))
        boxed, hidden = False, None
    return Stack(tuple(levels[-MOST_LEVELS:]), hidden)


def nodes_at(level: StackLevel, called: Function | None = None, op: str = "") -> frozenset[int]:
    """Returns the nodes of a level's graph that its line means: those that call `called` or `op`, where any do."""
    graph = level.function.graph
    executed = frozenset(node.index for node in graph.nodes if level.span is not None and _span(node) == level.span)
    if executed and not (called is not None and is_generator(called)):
        return executed
    nodes = graph.at_line(level.line)
    if called is not None and is_generator(called):
        loops = [node for node in graph.nodes if node.kind is NodeKind.LOOP and node.line == level.line]
        nodes = loops or nodes
    name = called.name.rpartition(".")[2] if called is not None else op
    if name in ("__init__", "__call__", "forward") and called is not None and called.owner is not None:
        name = called.owner.name
    named = [n for n in nodes if isinstance(n.syntax, ast.Call) and last_name(n.syntax.func) == name]
    return frozenset(node.index for node in named or nodes)


def _span(node: GraphNode) -> tuple[int, int, int, int] | None:
    call = node.syntax
    if not isinstance(call, ast.Call) or call.end_lineno is None or call.end_col_offset is None:
        return None
    return call.lineno, call.end_lineno, call.col_offset, call.end_col_offset
