"""What an exception handler does with what it caught: raises it, leaves, keeps it, or lets it vanish. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Callable_, Function, last_name
from diagnostics.static.program.project import Project

_BROAD = {"Exception", "BaseException", "RuntimeError", "StandardError"}
_TELLS = re.compile(
    r"^(?:print|log\w*|debug|info|warn\w*|error|exception|critical|format_exc|print_exc\w*|print_exception|write|echo"
    r"|secho|tqdm|rprint|display|flush|str|repr|type|format|join|strip|_?log\w*|print_\w+|rank_zero_\w+|logging)$"
)
_QUIET = (ast.Pass, ast.Continue, ast.Expr, ast.Return, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Break)
EXITS = {"sys.exit", "exit", "quit", "SystemExit", "os._exit"}


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what a bug raises: it is bare, or names Exception or one as wide."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(kind) in _BROAD for kind in kinds)


def is_whole(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches every error."""
    return is_broad(handler) and "RuntimeError" not in (ast.unparse(handler.type) if handler.type else "")


def head(handler: ast.ExceptHandler) -> str:
    """Returns the first line of a handler, without its colon."""
    return ast.unparse(handler).splitlines()[0].rstrip(":")


def vanishes(handler: ast.ExceptHandler) -> bool:
    """Whether a handler says at most a word and goes on as if nothing had happened."""
    return all(_is_quiet(one, handler.name) for one in handler.body)


def _is_quiet(statement: ast.stmt, caught: str | None) -> bool:
    if isinstance(statement, ast.If):
        return all(_is_quiet(one, caught) for one in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.AugAssign):
        return not _names(statement.value, caught)
    if isinstance(statement, ast.Return):
        value = statement.value
        return value is None or (isinstance(value, ast.Constant) and value.value is None)
    if isinstance(statement, ast.Assign):
        if not all(isinstance(one, ast.Name) for one in statement.targets):
            return False  # kept where others see it
        return isinstance(statement.value, (ast.Constant, ast.JoinedStr)) or (
            isinstance(statement.value, ast.Call) and bool(_TELLS.match(last_name(statement.value.func)))
        )
    if not isinstance(statement, _QUIET):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return bool(_TELLS.match(last_name(statement.value.func)))
    return True


def _names(value: ast.AST, name: str | None) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(value))


def exits_with_success(call: ast.AST, function: Function, project: Project) -> bool:
    """Whether a call ends the process with code 0."""
    if not isinstance(call, ast.Call) or project.name(call.func, function) not in EXITS:
        return False
    return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None, False))


def unconditional_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yields the calls that each run of some statements comes to, if nothing raises before."""
    for one in statements:
        if isinstance(one, (ast.Expr, ast.Assign, ast.Return, ast.Raise)):
            yield from (node for node in walk(one) if isinstance(node, ast.Call))
        elif isinstance(one, (ast.With, ast.AsyncWith)):
            yield from unconditional_calls(one.body)
        elif isinstance(one, ast.Try):
            yield from unconditional_calls(one.body)
            yield from unconditional_calls(one.finalbody)


def tries_of(function: Function) -> Iterator[ast.Try]:
    """Yields the try statements of a function's own body."""
    return (one for one in function.own_nodes if isinstance(one, ast.Try))


def leads_on(statements: list[ast.stmt]) -> bool:
    """Whether a raise stands somewhere in some statements, outside of functions defined there."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, (*Callable_.__args__, ast.ClassDef)):
            waiting += children(node)
    return False
