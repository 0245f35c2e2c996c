"""What became of an exception that told a Python program of a child's failure. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.launch_files.shell_exit_status import Fate, StatusFlow
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import catching, ends_in_raise, goes_on_raising, hiding_line, spans
from diagnostics.static.program.source_file import SourceFile

# Functions and methods that only say something; methods of loggers, traceback and warnings among them.
_SAYING = frozenset(
    ["print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print_exc", "write",
     "flush", "echo", "secho", "print_exception"]
)  # fmt: skip
_LEAVING = ("sys.exit", "os._exit", "exit", "quit")


def what_became_of(case: Job, frames: Sequence[Frame]) -> StatusFlow:
    """Follows the exception outwards through the user's frames, innermost first, to who caught it."""
    for frame in frames:
        source = case.sources.file(frame.file)
        suppressed = _suppressing(source, frame.line)
        block = catching(source, frame.line)
        if suppressed is not None and (block is None or suppressed.lineno > block.lineno):
            place = case.line(Frame(file=frame.file, line=suppressed.lineno, function=""))
            return StatusFlow(fate=Fate.DROPPED, places=(place, case.line(frame)), how="suppress() swallowed it",
                              by_exception=True)  # fmt: skip
        if block is None or goes_on_raising(block):
            continue
        if all(_says_only(handler.body) for handler in block.handlers if not ends_in_raise(handler.body)):
            place = case.line(Frame(file=frame.file, line=hiding_line(block), function=""))
            return StatusFlow(fate=Fate.DROPPED, places=(place, case.line(frame)), how="its handler only says so",
                              by_exception=True)  # fmt: skip
        return StatusFlow(fate=Fate.HANDLED, how=f"an exception told its parent, which caught it ({case.line(frame)})")
    return StatusFlow(fate=Fate.HANDLED, how="an exception told its parent")


def _suppressing(source: SourceFile, line: int) -> ast.With | None:
    """Returns the innermost `with suppress(...)` around a line."""
    found = [
        node
        for node in (walk(source.tree) if source.tree is not None else ())
        if isinstance(node, ast.With) and spans(node, line) and any(map(_is_suppress, node.items))
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _is_suppress(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "suppress"


def _says_only(statements: Sequence[ast.stmt]) -> bool:
    """Whether a handler keeps nothing, decides nothing and starts nothing."""
    return all(_is_idle(statement) for statement in statements)


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Expr(value=ast.Call() as call):
            name = ast.unparse(call.func)
            return name.rpartition(".")[2] in _SAYING or (name in _LEAVING and _leaves_with_0(call))
    return False


def _leaves_with_0(call: ast.Call) -> bool:
    return not call.args or (isinstance(call.args[0], ast.Constant) and not call.args[0].value)
