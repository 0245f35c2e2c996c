"""Whether a program goes on the same way after an exception was handled as it would have without one. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.dynamic.exit_status.code_uses import is_read, loaded_names, result_is_used
from diagnostics.dynamic.exit_status.enclosing_statements import Enclosing, Scope, StatementLevel
from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.source_file import SourceFile

# Functions and methods that only say something; methods of loggers, traceback and warnings among them.
_SAYING = frozenset(
    ["print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print_exc", "write",
     "flush", "echo", "secho", "print_exception"]
)  # fmt: skip

_TERMINAL = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def says_only(statements: Sequence[ast.stmt], *also: str) -> bool:
    """Whether some statements keep nothing, decide nothing and start nothing; calls of `also` are nothing either."""
    return all(_is_idle(statement, also) for statement in statements)


def tells_apart(
    around: Enclosing, at: int, handler: Sequence[ast.stmt], source: SourceFile, line: int, *, called: Sequence[str],
    used: bool,
) -> bool:  # fmt: skip
    """Whether something besides the handler tells whether the line raised: what comes behind it, or a value.

    The guarding `try` or `with` owns the level `at`. `called` are names of what the line called; `used` says that the
    scope's own result is looked at.
    """
    inside, outside = around.levels[at:], around.levels[:at]
    guard = inside[0].owner
    return (
        any(not goes_on_saying(level.after) for level in inside)
        or _keeps(inside[-1].statement, source, line, called)
        or not goes_on_saying(getattr(guard, "orelse", ()))
        or not all(goes_on_saying(skipped) for skipped in _skipped(outside, handler))
        or (used and _gives_different(around.scope, handler))
    )


def goes_on_saying(statements: Sequence[ast.stmt], *also: str) -> bool:
    """As says_only, where to leave early is an answer: what follows is passed over."""
    leaves = any(isinstance(one, (ast.Return, ast.Continue)) or _is_exit(one) for one in statements)
    return not leaves and says_only(statements, *also)


def _is_exit(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in exit_calls.LEAVING


def _keeps(statement: ast.stmt, source: SourceFile, line: int, called: Sequence[str]) -> bool:
    """Whether the statement that raised would have kept or tested something."""
    match statement:
        case ast.Expr():
            return result_is_used(source, line, called)
        case ast.Assign(targets=targets):
            return any(is_read(one, loaded_names(source)) for one in targets)
        case ast.AnnAssign(target=target):
            return is_read(target, loaded_names(source))
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
            return not goes_on_saying([*statement.body, *getattr(statement, "orelse", ())])
    return True


def _skipped(outside: Sequence[StatementLevel], handler: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    """Yields what a handler that leaves its loop's round or its function passes over."""
    last = handler[-1] if handler else None
    if not isinstance(last, (ast.Continue, ast.Return)):
        return
    for level in reversed(outside):
        # What a function gives back is looked at elsewhere.
        skipped = [one for one in level.after if isinstance(last, ast.Continue) or not isinstance(one, ast.Return)]
        yield skipped
        if isinstance(last, ast.Continue) and isinstance(level.owner, _LOOPS):
            return


def _gives_different(scope: Scope, handler: Sequence[ast.stmt]) -> bool:
    """Whether what a function returns may tell one way through it from the other."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    own = list(_own_nodes(scope))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own):
        return True
    values = [node.value for node in own if isinstance(node, ast.Return)]
    given = {ast.dump(value) if value is not None else "Constant(value=None)" for value in values}
    if not given - {"Constant(value=None)"}:
        return False
    leaves = bool(handler) and isinstance(handler[-1], ast.Return)
    return leaves or len(given) > 1 or not all(isinstance(value, ast.Constant) for value in values)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    for node in children(scope):
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_nodes(node)


def _is_idle(statement: ast.stmt, also: Sequence[str]) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Expr(value=ast.Call() as call):
            name = ast.unparse(call.func)
            if name in exit_calls.LEAVING:
                return _leaves_with_0(call)
            return name.rpartition(".")[2] in also or _says(call, name)
    return False


def _says(call: ast.Call, name: str) -> bool:
    """Whether a call only says something to who reads along: what is written into a file of its own is kept."""
    owner, _, function = name.rpartition(".")
    if function == "write" and owner not in _TERMINAL:
        return False
    files = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "file"]
    inner = [node for argument in call.args for node in walk(argument) if isinstance(node, ast.NamedExpr)]
    return function in _SAYING and not inner and all(file in _TERMINAL for file in files)


def _leaves_with_0(call: ast.Call) -> bool:
    return not call.args or (isinstance(call.args[0], ast.Constant) and not call.args[0].value)
