"""Which handlers can take the exception that tells of a child's failure, by the names of its types. Pure."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_OTHERS = frozenset(["TimeoutExpired"])  # of subprocess, and no relation


class Catches(StrEnum):
    """Whether a handler or suppress() takes an exception."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"  # a name of which nobody knows what it stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedType:
    """An exception by the names of its class and of the bases that are known; `whole` where these are all."""

    names: frozenset[str]
    whole: bool = True


_EVERY = frozenset(["Exception", "BaseException"])
CHILD_FAILED = RaisedType(
    names=_EVERY
    | {"CalledProcessError", "SubprocessError", "ProcessException", "ProcessRaisedException", "ProcessExitedException",
       "ChildFailedError"},
)  # fmt: skip


def catches(kinds: ast.expr | None, raised: RaisedType, source: SourceFile) -> Catches:
    """Returns whether `except kinds` takes an exception."""
    if kinds is None:
        return Catches.YES
    names = [last_name(one) for one in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])]
    found = {_takes(name, raised, source) for name in names}
    return next((one for one in (Catches.YES, Catches.MAYBE) if one in found), Catches.NO)


def raised_by(handler: ast.ExceptHandler, before: RaisedType) -> RaisedType:
    """Returns what a handler that ends in a raise or an exit sends on."""
    last = handler.body[-1]
    if not isinstance(last, ast.Raise):
        return _builtin("SystemExit")
    error = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    if error is None or (isinstance(error, ast.Name) and error.id == handler.name):
        return before
    name = last_name(error)
    return _builtin(name) if _is_builtin(name) else RaisedType(names=_EVERY | {name}, whole=False)


def _takes(name: str, raised: RaisedType, source: SourceFile) -> Catches:
    if name in raised.names:
        return Catches.YES
    other = _is_builtin(name) or name in _OTHERS or _is_class_of(name, source)
    return Catches.NO if other and raised.whole else Catches.MAYBE


def _is_class_of(name: str, source: SourceFile) -> bool:
    nodes = walk(source.tree) if source.tree is not None else ()
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in nodes)


def _is_builtin(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _builtin(name: str) -> RaisedType:
    return RaisedType(names=frozenset(kind.__name__ for kind in getattr(builtins, name).__mro__))
