"""Which statements only say something to who reads along. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import walk

# Functions and methods that only say something; methods of loggers, traceback and warnings among them.
_SAYING = frozenset(
    ["print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print_exc", "write",
     "flush", "echo", "secho", "print_exception"]
)  # fmt: skip

_TERMINAL = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")


def says_only(statements: Sequence[ast.stmt], *also: str) -> bool:
    """Whether some statements keep nothing, decide nothing and start nothing; calls of `also` are nothing either."""
    return all(_is_idle(statement, also) for statement in statements)


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
