"""A data set answers an error with None or with another item.

What it does: flags handlers for all errors in __getitem__ and in collate functions that return None or another item.

Why it matters: what cannot be read is left out without a word: a damaged file system looks like a smaller data set, and
a batch without samples makes a rank skip a step that its peers wait in. The items of others are seen twice.

Bad:

    def __getitem__(self, index):
        try:
            return self.read(index)
        except Exception:
            return None

Good:

    def __getitem__(self, index):
        return self.read(index)

What it cannot see: whether such errors are counted elsewhere. So it is never more than possible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import is_broad, leads_on, tries_of
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A510"
NAME = "error-turned-into-item"
SEVERITY = Severity.WARNING
WORDS = ("__getitem__", "collate_fn", "collate")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the handlers that answer an error with another item."""
    for function in project.functions_in(file):
        if not _gives_items(function):
            continue
        for block in tries_of(function):
            for handler in block.handlers:
                given = _given(handler, function) if is_broad(handler) and not leads_on(handler.body) else None
                if given is not None:
                    yield violation(
                        file,
                        given,
                        f"any error of {function.name} becomes {_words(given)}: what cannot be read is left out in "
                        "silence",
                        "let the error pass, or count what is left out and stop when it is more than a few",
                        steps=(step(file, block.body[0], "an error here ..."), step(file, given, "... ends here")),
                        confidence=Confidence.POSSIBLE,
                    )


def _gives_items(function: Function) -> bool:
    name = function.name.rpartition(".")[2]
    return name == "__getitem__" or (name.endswith(("collate", "collate_fn")))


def _given(handler: ast.ExceptHandler, function: Function) -> ast.Return | None:
    for node in walk(handler):
        if isinstance(node, ast.Return) and (_is_none(node.value) or _is_item(node.value)):
            return node
    return None


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _is_item(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Name) and value.value.id == "self"
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "__getitem__"


def _words(given: ast.Return) -> str:
    return "None" if _is_none(given.value) else "another item"
