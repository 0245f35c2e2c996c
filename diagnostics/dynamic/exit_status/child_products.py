"""Whether a Python program looks at what a child was to leave behind: files, output, what they share. Pure.

Who never looks at a child's code may still see that it failed: its checkpoint is missing, its output has no result,
its queue stays empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from diagnostics.core.frame import Frame
from diagnostics.dynamic.exit_status.handler_effects import goes_on_saying, says_only
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import children, walk
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
_SAYS = ("write", "writelines", "sleep")  # what is copied to a log is no look at it
_SHARING = frozenset(
    ["Queue", "SimpleQueue", "JoinableQueue", "Pipe", "Event", "Value", "Array", "RawValue", "RawArray", "Namespace",
     "SharedMemory", "Manager", "share_memory_"]
)  # fmt: skip
_BY_MANAGER = frozenset(["dict", "list"])
_TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert, ast.BoolOp, ast.comprehension, ast.Match, ast.Try)
_PARTS = (ast.Attribute, ast.Subscript, ast.JoinedStr, ast.FormattedValue, ast.Await, ast.Tuple, ast.Starred)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def looks_at_products(job: Job, frames: Iterable[Frame], *, process: bool) -> bool:
    """Whether one of the functions that started a child, or called who did, decides on what it left.

    `process` says that it is one of multiprocessing, which shares objects with it.
    """
    for number, frame in enumerate(frames):
        source = job.sources.file(frame.file)
        if source.tree is None:
            continue
        scope = source.function_at(frame.line) or source.tree
        shared = _shared(source) if process else frozenset()
        if _decides(scope, frame.line, shared) or (not number and _reads_output(source)):
            return True
    return False


def _decides(scope: ast.AST, line: int, shared: frozenset[str]) -> bool:
    nodes = list(walk(scope))
    later = _later(nodes, line)
    names = shared | {name for node in later for name in _assigned_from(node, lambda one: _asks(one, shared))}
    return any(isinstance(node, _TESTS) and _is_answer(node, names) for node in later)


def _later(nodes: list[ast.AST], line: int) -> list[ast.AST]:
    """Returns the nodes that may run after a line: those behind it, and those of a loop around it."""
    around = [node for node in nodes if isinstance(node, _LOOPS) and spans(node, line)]
    inside = {id(one) for loop in around for one in walk(loop)}
    return [node for node in nodes if getattr(node, "lineno", 0) > line or id(node) in inside]


def _is_answer(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether a condition asks for something a child left, and its branches are more than words."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            return _asks(test, names) and not goes_on_saying([*body, *orelse], *_SAYS)
        case ast.While(test=test, body=body):
            return _asks(test, names) and not says_only(body, *_SAYS)  # to wait for a file is no answer
        case ast.Try(body=body, handlers=handlers):
            answered = any(not says_only(one.body, *_SAYS) for one in handlers)
            return answered and any(_asks(one, names) for one in body)
        case ast.IfExp(test=test) | ast.Assert(test=test):
            return _asks(test, names)
        case ast.BoolOp(values=values):
            return any(_asks(one, names) for one in values[:-1])
        case ast.comprehension(ifs=ifs):
            return any(_asks(one, names) for one in ifs)
        case ast.Match(subject=subject):
            return _asks(subject, names)
    return False


def _asks(test: ast.AST, names: frozenset[str]) -> bool:
    return any(
        (isinstance(node, ast.Call) and last_name(node.func) in _OF_FILES)
        or (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in walk(test)
    )


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


def _reads_output(source: SourceFile) -> bool:
    """Whether a file does more with the output of a child than to show or copy it."""
    above = {below: node for node in walk(source.tree) for below in children(node)} if source.tree is not None else {}
    return any(_is_output(node) and not _is_shown(node, above) for node in above)


def _is_output(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        of_itself = isinstance(node.value, ast.Name) and node.value.id == "sys"
        return node.attr in _OUTPUTS and isinstance(node.ctx, ast.Load) and not of_itself
    return isinstance(node, ast.Call) and last_name(node.func) in _GIVING_OUTPUT


def _is_shown(node: ast.AST, above: Mapping[ast.AST, ast.AST], *, named: bool = False) -> bool:
    """Whether a value goes nowhere but to the terminal or a log."""
    while isinstance(above.get(node), _PARTS):
        node = above[node]
    parent = above.get(node)
    match parent:
        case ast.Expr():
            return True
        case ast.Call(func=func):
            if func is node:  # a method of it
                return _is_shown(parent, above, named=named)
            return says_only([ast.Expr(value=parent)], *_SAYS)
        case ast.For(iter=items, body=body) | ast.AsyncFor(iter=items, body=body):
            return items is node and says_only(body, *_SAYS)
        case ast.Assign() if not named:
            names = set(_assigned_from(parent, lambda _: True))
            loads = [one for one in above if isinstance(one, ast.Name) and one.id in names]
            return all(isinstance(one.ctx, ast.Store) or _is_shown(one, above, named=True) for one in loads)
    return False
