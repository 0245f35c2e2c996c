"""A statement's text with parts of it replaced, its comments and layout kept. Pure."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from typing import Any

from diagnostics.static.program.ast_walk import walk

# Before 3.12 what stands in an f-string has no place of its own.
_PLACES_IN_FSTRINGS = sys.version_info >= (3, 12)
_DEFINITION = re.compile(rb"(?:async\s+def|def|class)\s+")


def edited(text: str, statement: ast.stmt, new: Mapping[ast.AST, str], renamed: Mapping[str, str]) -> str:
    """Returns the statement's text with each node of `new` replaced and the names that it binds renamed.

    It is written anew, without its comments, where a replaced part has no place in the text. Docstrings go.
    """
    if _placed(statement, new, renamed):
        return _cut(text, statement, {**new, **_docstrings(statement)}, renamed)
    return ast.unparse(ast.fix_missing_locations(_Replaced(new, renamed).visit(statement)))


def _placed(statement: ast.stmt, new: Mapping[ast.AST, str], renamed: Mapping[str, str]) -> bool:
    for node in walk(statement):
        if isinstance(node, ast.JoinedStr) and not _PLACES_IN_FSTRINGS and any(one in new for one in walk(node)):
            return False
        if isinstance(node, ast.Global) and set(node.names) & set(renamed):
            return False
    return True


def _docstrings(statement: ast.stmt) -> dict[ast.AST, str]:
    found: dict[ast.AST, str] = {}
    for node in walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str())) as first:
                    found[first] = "" if len(node.body) > 1 else "pass"
    return found


def _cut(text: str, statement: ast.stmt, new: Mapping[ast.AST, str], renamed: Mapping[str, str]) -> str:
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    whole = b"".join(lines)

    def span(node: ast.AST) -> tuple[int, int]:
        return (
            starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    edits = [(*span(node), word) for node, word in new.items()]
    for node in _definitions(statement):
        if node.name in renamed:
            begin = span(node)[0]
            found = _DEFINITION.match(whole, begin)
            place = found.end() if found is not None else begin
            edits.append((place, place + len(node.name.encode()), renamed[node.name]))
    first = min([span(statement)[0], *(span(one)[0] - 1 for one in getattr(statement, "decorator_list", ()))])
    end = span(statement)[1]
    pieces: list[bytes] = []
    for begin, stop, word in sorted(edits):
        if begin < first:
            continue
        pieces.append(whole[first:begin])
        pieces.append(word.encode())
        first = stop
        if not word:  # an emptied line goes
            while whole[first : first + 1] in (b" ", b"\n", b"\t", b";"):
                first += 1
    pieces.append(whole[first:end])
    return b"".join(pieces).decode()


def _definitions(statement: ast.stmt) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Returns what this statement defines in its own scope."""
    found: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node)
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            todo += ast.iter_child_nodes(node)
    return found


class _Replaced(ast.NodeTransformer):
    def __init__(self, new: Mapping[ast.AST, str], renamed: Mapping[str, str]) -> None:
        self._new = new
        self._renamed = renamed
        self._depth = 0

    def visit(self, node: ast.AST) -> Any:
        word = self._new.get(node)
        if word is not None:
            return ast.parse(word, mode="eval").body if isinstance(node, ast.expr) else ast.parse(word).body
        if isinstance(node, ast.Global):
            return ast.Global(names=[self._renamed.get(name, name) for name in node.names])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if self._depth == 0:
                node.name = self._renamed.get(node.name, node.name)
            self._depth += 1
            self.generic_visit(node)
            self._depth -= 1
            return node
        return self.generic_visit(node)
