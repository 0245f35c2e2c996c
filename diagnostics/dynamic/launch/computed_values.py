"""Where a value that a Python launcher hands to its ranks under a name was computed. Pure.

`WORLD_SIZE=str(world)` only passes a number on: what is wrong with it stands where `world` is computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile

_ROUNDS = 4
_CASTS = ("str", "int")


def computed_at(job: Job, locations: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines that compute what one of `names` is set to at these lines, where those pass on a variable."""
    wanted = {name.lower() for name in names}
    found = []
    for location in locations:
        file, _, line = location.rpartition(":")
        if not file.endswith(".py") or not line.isdigit():
            continue
        source = job.sources.file(file)
        statement = source.statement_at(int(line))
        for value in _values(statement, wanted) if statement is not None else ():
            at = _computed(source, value, int(line))
            if at is not None:
                found.append(job.line(Frame(file=file, line=at, function="")))
    return tuple(dict.fromkeys(found))


def _values(statement: ast.stmt, names: set[str]) -> Iterator[ast.expr]:
    """Yields what is given as a keyword, under a key or to an item of one of these names."""
    for node in walk(statement):
        match node:
            case ast.keyword(arg=str(arg), value=value) if arg.lower() in names:
                yield value
            case ast.Dict(keys=keys, values=values):
                yield from (value for key, value in zip(keys, values, strict=True) if _text(key) in names)
            case ast.Assign(targets=targets, value=value) if any(
                isinstance(one, ast.Subscript) and _text(one.slice) in names for one in targets
            ):
                yield value


def _computed(source: SourceFile, value: ast.expr, line: int) -> int | None:
    """Returns the line of the assignment that ends the way through names; None where there is no such way."""
    at = None
    for _ in range(_ROUNDS):
        name = _name(value)
        made = [one for one in _assigned(source, line) if name is not None and _targets(one) == name]
        if not made:
            break
        last = max(made, key=lambda one: one.lineno)
        value, line, at = last.value, last.lineno, last.lineno
    return at


def _assigned(source: SourceFile, line: int) -> list[ast.Assign]:
    """Returns the assignments before a line, in its function, or in its module where that has none."""
    function = source.function_at(line)
    own = [node for node in walk(function) if isinstance(node, ast.Assign)] if function is not None else []
    outside = [node for node in (source.tree.body if source.tree is not None else ()) if isinstance(node, ast.Assign)]
    return [node for node in (*own, *outside) if node.lineno < line]


def _targets(assigned: ast.Assign) -> str:
    target = assigned.targets[0] if len(assigned.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else ""


def _name(value: ast.expr) -> str | None:
    """Returns the variable that is passed on, also as a text or a number."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id=cast), args=[inner], keywords=[]) if cast in _CASTS:
            return _name(inner)
        case ast.JoinedStr(values=[ast.FormattedValue(value=inner, format_spec=None)]):
            return _name(inner)
    return None


def _text(key: ast.expr | None) -> str:
    return key.value.lower() if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
