"""Whether a Python program acts on what a child was to leave behind: files, output, what they share. Pure.

Who never looks at a child's code may still see that it failed: its checkpoint is missing, its output has no result,
its queue stays empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.exit_status.failure_flow import FailureFlow
from diagnostics.dynamic.exit_status.value_carriers import Consequence
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_OF_FILES = frozenset(
    ["exists", "lexists", "is_file", "isfile", "is_dir", "isdir", "stat", "getsize", "getmtime", "access", "glob",
     "iglob", "rglob", "listdir", "scandir", "iterdir", "open", "read", "readline", "readlines", "read_text",
     "read_bytes"]
)  # fmt: skip
_OUTPUTS = frozenset(["stdout", "stderr", "output"])
_GIVING_OUTPUT = frozenset(["communicate", "getoutput", "check_output", "getstatusoutput"])
_SHARING = frozenset(
    ["Queue", "SimpleQueue", "JoinableQueue", "Pipe", "Event", "Value", "Array", "RawValue", "RawArray", "Namespace",
     "SharedMemory", "Manager", "share_memory_"]
)  # fmt: skip
_BY_MANAGER = frozenset(["dict", "list"])
_TAKING = frozenset(
    ["get", "get_nowait", "empty", "qsize", "recv", "poll", "is_set", "value", "items", "values", "keys"]
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEEPEST = 3  # main -> run_trial -> read_score


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductsLook:
    """What comes of what a child left; `worded` where the program says something by a test of it."""

    leads_to: Consequence
    worded: bool = False


def look_at_products(
    job: Job, frames: Iterable[Frame], sources: Sequence[SourceFile], *, process: bool
) -> ProductsLook:
    """Returns what the functions that started a child, or called who did, make of what it left.

    `process` says that it is one of multiprocessing, which shares objects with it.
    """
    files = [job.sources.file(frame.file) for frame in frames]
    flow = FailureFlow([*dict.fromkeys([*files, *sources])], leaves=True)
    most = Consequence.NOTHING
    for number, (frame, source) in enumerate(zip(frames, files, strict=True)):
        if source.tree is None:
            continue
        scope = source.function_at(frame.line) or source.tree
        shared = _shared(source) if process else frozenset()
        later = list(_with_called(_later(list(walk(scope)), frame.line), flow.functions))
        outputs = [node for node in walk(source.tree) if _is_output(node)] if not number else []
        found = flow.of_values([*outputs, *(one for one in later if _asks_for_file(one) or _takes(one, shared))])
        answers = [one for node in later if isinstance(node, ast.Try) for one in _answers(node, shared)]
        most = max(most, found, flow.of_blocks(answers))
    return ProductsLook(leads_to=most, worded=flow.worded)


def _later(nodes: list[ast.AST], line: int) -> list[ast.AST]:
    """Returns the nodes that may run after a line: those behind it, and those of a loop around it."""
    around = [node for node in nodes if isinstance(node, _LOOPS) and spans(node, line)]
    inside = {id(one) for loop in around for part in (*loop.body, *loop.orelse) for one in walk(part)}
    return [node for node in nodes if getattr(node, "lineno", 0) > line or id(node) in inside]


def _with_called(nodes: Sequence[ast.AST], functions: Mapping[str, Sequence[ast.AST]]) -> Iterator[ast.AST]:
    """Yields some nodes, and those of the program's own functions that they call."""
    seen: set[int] = set()
    level = list(nodes)
    for _ in range(_DEEPEST):
        fresh = [node for node in level if id(node) not in seen]
        seen |= {id(node) for node in fresh}
        yield from fresh
        called = {last_name(node.func) for node in fresh if isinstance(node, ast.Call)}
        level = [below for name in called for function in functions.get(name, ()) for below in walk(function)]


def _answers(block: ast.Try, shared: frozenset[str]) -> list[ast.stmt]:
    """Returns what handlers do where what a child left cannot be read."""
    asks = any(_asks_for_file(node) or _takes(node, shared) for one in block.body for node in walk(one))
    return [statement for handler in block.handlers for statement in handler.body] if asks else []


def _asks_for_file(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or last_name(node.func) not in _OF_FILES:
        return False
    if last_name(node.func) != "open":
        return True
    place = int(isinstance(node.func, ast.Name))  # open(path, mode), path.open(mode)
    modes = [*node.args[place : place + 1], *(one.value for one in node.keywords if one.arg == "mode")]
    return not any(isinstance(one, ast.Constant) and set(str(one.value)) & set("wax") for one in modes)


def _takes(node: ast.AST, shared: frozenset[str]) -> bool:
    """Whether something is taken out of an object that is shared with a child."""
    if isinstance(node, ast.Attribute):
        return node.attr in _TAKING and _names(node.value) in shared
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _names(node.value) in shared


def _names(value: ast.expr) -> str:
    return last_name(value) if isinstance(value, ast.Name | ast.Attribute) else ""


def _shared(source: SourceFile) -> frozenset[str]:
    """Returns the names and attributes that a file assigns queues, pipes, events and the like to."""
    nodes = walk(source.tree) if source.tree is not None else ()
    return frozenset(name for node in nodes for name in _assigned_from(node, _makes_shared))


def _makes_shared(value: ast.AST) -> bool:
    calls = [node.func for node in walk(value) if isinstance(node, ast.Call)]
    return any(
        last_name(call) in _SHARING or (isinstance(call, ast.Attribute) and call.attr in _BY_MANAGER) for call in calls
    )


def _assigned_from(node: ast.AST, meant: Callable[[ast.AST], bool]) -> Iterator[str]:
    """Yields the names and attributes that an assignment fills from a value that is meant."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None and meant(node.value):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for one in walk(target):
                if isinstance(one, ast.Name):
                    yield one.id
                elif isinstance(one, ast.Attribute):
                    yield one.attr


def _is_output(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        of_itself = isinstance(node.value, ast.Name) and node.value.id == "sys"
        return node.attr in _OUTPUTS and isinstance(node.ctx, ast.Load) and not of_itself
    return isinstance(node, ast.Call) and last_name(node.func) in _GIVING_OUTPUT
