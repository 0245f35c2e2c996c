"""Which file a function leaves unwritten, or half written, when it is cut off at a line: an open file, a save. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.own_nodes import own_nodes
from diagnostics.static.program.source_file import SourceFile

_SAVES = frozenset(["save", "savez", "savez_compressed", "dump", "save_file", "save_model", "save_pretrained",
                    "write_text", "write_bytes", "copy", "copyfile", "copytree", "to_csv", "to_parquet"])  # fmt: skip

_SAVING_NAME = re.compile(r"save|dump|back_?up|fall_?back|upload", re.IGNORECASE)


def writes_at(source: SourceFile, line: int) -> bool:
    """Whether the line stands in a `with open(..., "w")`, or calls what writes a file."""
    calls = (node for node in _around(source, line) if isinstance(node, ast.Call))
    return _is_in_open_file(source, line) or any(last_name(node) in _SAVES for node in calls)


def writes_from(source: SourceFile, line: int) -> bool:
    """Whether the function of the line writes a file in it or further down: what is cut off there is never written."""
    function = source.function_at(line)
    if function is None:
        return False
    later = (one for one in own_nodes(function) if isinstance(one, ast.Call) and (one.end_lineno or one.lineno) >= line)
    saves = _SAVES - {"copy"}  # of a tensor or a dict, more often than of a file
    return _is_in_open_file(source, line) or any(_opens_to_write(one) or last_name(one) in saves for one in later)


def saves_by_name(source: SourceFile, line: int) -> bool:
    """Whether the line calls something that is named for saving: `dcp.async_save(...)`, `saver.backup(...)`."""
    return any(isinstance(one, ast.Call) and _SAVING_NAME.search(last_name(one)) for one in _around(source, line))


def saves_in(statements: Sequence[ast.stmt]) -> bool:
    """Whether some statements call what writes a file, by its name, or open one to write."""
    calls = [node for one in statements for node in walk(one) if isinstance(node, ast.Call)]
    return any(_opens_to_write(one) or last_name(one) in _SAVES or _SAVING_NAME.search(last_name(one)) for one in calls)


def _is_in_open_file(source: SourceFile, line: int) -> bool:
    blocks = (node for node in _around(source, line) if isinstance(node, (ast.With, ast.AsyncWith)))
    return any(_opens_to_write(item.context_expr) for node in blocks for item in node.items)


def loops_at(source: SourceFile, line: int) -> bool:
    """Whether the line stands in a `while`, as that of a heartbeat or a log does: whenever it ends it is cut off."""
    return any(isinstance(node, ast.While) for node in _around(source, line))


def _around(source: SourceFile, line: int) -> list[ast.AST]:
    return [node for node in walk(source.tree) if _spans(node, line)] if source.tree is not None else []


def _spans(node: ast.AST, line: int) -> bool:
    if not isinstance(node, (ast.stmt, ast.expr)):
        return False
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _opens_to_write(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    if last_name(call) not in ("open", "File", "fdopen", "NamedTemporaryFile", "ZipFile"):
        return False
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(len(text) <= 4 and set(text) <= set("rwaxbt+") and set(text) & set("wax+") for text in texts)
