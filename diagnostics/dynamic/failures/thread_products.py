"""Whether a rank failed on what one of its threads left: they meet in a queue, a list, an attribute. Pure.

A thread that ends by an exception puts `None` into its queue on the way out, or leaves a result that nobody set. What
the main thread then raises names a value that it was given, and not the line that failed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import catching
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_LEAVES_IN = frozenset(
    ["put", "put_nowait", "append", "appendleft", "add", "extend", "update", "insert", "setdefault", "set_result",
     "set_exception", "send", "set"]
)  # fmt: skip
_FRAMES = 4  # of the main thread's path: who calls further out made what it works on long before
_ROUNDS = 3  # of assignments, and of functions, that a value is followed back through
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def fails_on_products(job: Job, process: JobProcess, thread: ExceptionRecord, failed: Iterable[Frame]) -> bool:
    """Whether the line at which the main thread failed has a value out of what the thread's functions fill.

    Of an exception that the thread caught, what its handler puts there.
    """
    if thread.how is ExceptionSource.THREAD:
        filled = {name for one in thread.user_path for name in _filled_by(job.sources.file(one.file), one.line)}
    else:
        outer = thread.user_path[-1]
        filled = _filled_by_handlers(job.sources.file(outer.file), outer.line)
    if not filled:
        return False
    functions: dict[str, list[ast.AST]] = {}
    for _, source in job_sources(job, process):
        for node in walk(source.tree) if source.tree is not None else ():
            if isinstance(node, _Function):
                functions.setdefault(node.name, []).append(node)
    used = (_used(job.sources.file(frame.file), frame.line, functions) for frame in list(failed)[:_FRAMES])
    return any(filled & names for names in used)


def answers_what_is_missing(job: Job, process: JobProcess, thread: ExceptionRecord) -> bool:
    """Whether the program asks what it took out of such an object for `None`, and goes on with something else."""
    filled = {name for one in thread.user_path for name in _filled_by(job.sources.file(one.file), one.line)}
    for _, source in job_sources(job, process):
        nodes = list(walk(source.tree)) if source.tree is not None else []
        taken = {name for node in nodes for name in _taken(node, filled)}
        if any(isinstance(node, ast.If) and _names(walk(node.test)) & taken and _goes_on(node) for node in nodes):
            return True
    return False


def _taken(node: ast.AST, filled: set[str]) -> set[str]:
    """Returns the names that an assignment gives what comes out of one of some objects."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return set()
    takes = isinstance(node.value.func, ast.Attribute) and last_name(node.value.func.value) in filled
    return _names(node.targets) if takes else set()


def _goes_on(block: ast.If) -> bool:
    """Whether a branch, where nothing was there, makes something by a call, and does not leave."""
    test = block.test
    is_none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is)
    is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    inside = [one for statement in (block.body if is_none or is_not else block.orelse) for one in walk(statement)]
    leaves = any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in inside)
    return not leaves and any(isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) for one in inside)


def _filled_by(source: SourceFile, line: int) -> set[str]:
    """Returns the names of what the function at a line puts things into that others see, too."""
    function = source.function_at(line)
    return _filled(function, function)


def _filled_by_handlers(source: SourceFile, line: int) -> set[str]:
    block = catching(source, line)
    handlers = block.handlers if block is not None else []
    return {name for one in handlers for name in _filled(source.function_at(line), one)}


def _filled(function: _Function | None, part: ast.AST | None) -> set[str]:
    nodes = list(walk(function)) if function is not None else []
    shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - shared
    found: set[str] = set()
    for node in walk(part) if part is not None else ():
        target: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEAVES_IN:
            target = node.func.value
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            target = node.value if isinstance(node, ast.Subscript) else node
        elif isinstance(node, ast.Name) and node.id in shared and isinstance(node.ctx, ast.Store):
            target = node
        while isinstance(target, ast.Subscript):  # `queues[rank].put(x)`
            target = target.value
        if isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id not in own):
            found.add(last_name(target))
    return found


def _used(source: SourceFile, line: int, functions: dict[str, list[ast.AST]]) -> set[str]:
    """Returns the names that a line's values come from: through assignments before it, and functions that it calls."""
    statement = source.statement_at(line)
    if statement is None or source.tree is None:
        return set()
    scope = source.function_at(line) or source.tree
    nodes = list(_own_expressions(statement))
    names = _names(nodes)
    for _ in range(_ROUNDS):
        made = [one for one in walk(scope) for value in _assigned(one, names) for one in walk(value)]
        called = {last_name(one.func) for one in (*nodes, *made) if isinstance(one, ast.Call)}
        inside = [one for name in called for function in functions.get(name, ()) for one in walk(function)]
        nodes = [*nodes, *made, *inside]
        more = names | _names(made) | {one.attr for one in inside if isinstance(one, ast.Attribute)}
        if more == names:
            break
        names = more
    return names


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yields what a statement itself looks at: of a loop or branch its head."""
    if isinstance(statement, ast.For | ast.AsyncFor):
        yield from walk(statement.iter)
    elif isinstance(statement, ast.If | ast.While):
        yield from walk(statement.test)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield from (node for item in statement.items for node in walk(item.context_expr))
    elif not isinstance(statement, (*_Function.__args__, ast.ClassDef, ast.Try)):
        yield from walk(statement)


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {last_name(one) for one in nodes if isinstance(one, ast.Name | ast.Attribute)}


def _assigned(node: ast.AST, names: set[str]) -> Iterator[ast.expr]:
    """Yields what a statement assigns to one of some names."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
    elif isinstance(node, ast.For | ast.AsyncFor):
        targets, value = [node.target], node.iter
    else:
        return
    if any(isinstance(one, ast.Name) and one.id in names for target in targets for one in walk(target)):
        yield value
