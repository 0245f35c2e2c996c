"""Reads the job's source files, bounded, for analysis and for the lines shown in a report."""

from __future__ import annotations

import ast
import os
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.ast_walk import statements, walk

_LEVELS_ABOVE = 2

MAX_SOURCE_BYTES = 4 << 20
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


class SourceFile:
    """One Python file; `lines` is empty where it cannot be read, `tree` None where it is no Python.

    `saved` is its text where a copy was kept: then the disk is not asked.
    """

    def __init__(self, path: Path, saved: str | None = None) -> None:
        self.path = path
        self._saved = saved

    @cached_property
    def text(self) -> str:
        """The file's text, "" where it cannot be read."""
        if self._saved is not None:
            return self._saved
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return ""
        if not stat.S_ISREG(os.fstat(fd).st_mode):  # a folder cannot be made a file object, even
            os.close(fd)
            return ""
        with os.fdopen(fd, "rb") as file:
            return file.read(MAX_SOURCE_BYTES).decode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module | None:
        """The parsed file."""
        try:
            return parsed(self.text) if self.text else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def all_statements(self) -> tuple[ast.stmt, ...]:
        """Its statements, level by level: definitions, classes and imports are among them."""
        return tuple(statements(self.tree)) if self.tree is not None else ()

    def statement_at(self, line: int) -> ast.stmt | None:
        """Returns the smallest statement that spans `line`."""
        return self._statements.get(line)

    def calls_at(self, line: int) -> list[ast.Call]:
        """Returns the calls that span `line`, of the smallest statement that does; the outer ones first."""
        below = walk(statement) if (statement := self.statement_at(line)) is not None else ()
        calls = (one for one in below if isinstance(one, ast.Call))
        return [one for one in calls if one.lineno <= line <= (one.end_lineno or one.lineno)]

    @cached_property
    def _statements(self) -> dict[int, ast.stmt]:
        """The smallest statement that spans each line."""
        every = [node for node in walk(self.tree) if isinstance(node, ast.stmt)] if self.tree is not None else []
        every.reverse()  # of several as small, the first one written down last
        every.sort(key=lambda node: node.lineno - (node.end_lineno or node.lineno))
        return {line: node for node in every for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}

    def function_at(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Returns the innermost function that spans `line`."""
        if self.tree is None:
            return None
        functions = (n for n in walk(self.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
        spanning = [node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return max(spanning, key=lambda node: node.lineno, default=None)

    def around(self, line: int, *, reach: int = 2) -> tuple[str, ...]:
        """Returns the lines around `line`, numbered, that one marked by ">"."""
        first, last = max(1, line - reach), min(len(self.lines), line + reach)
        marks = ((number, ">" if number == line else " ") for number in range(first, last + 1))
        return tuple(f"{mark} {number:4d}  {self.lines[number - 1]}" for number, mark in marks)


class SourceStore:
    """Source files by the name Python gave them, relative ones below the job's start folder.

    `saved` holds copies by absolute path, as they were when the job ran. `suffixes` limits what else is read from
    the disk: a record from elsewhere may name any file of this machine.
    """

    def __init__(
        self, cwd: str, saved: Mapping[str, str] | None = None, suffixes: frozenset[str] | None = None
    ) -> None:
        self._cwd = Path(cwd or ".")
        self._saved = saved or {}
        self._suffixes = suffixes
        self._files: dict[str, SourceFile] = {}

    def file(self, name: str) -> SourceFile:
        """Returns the file, read when first needed."""
        if name not in self._files:
            path = self._cwd / name
            file = SourceFile(path, self._saved.get(str(path)))
            if str(path) not in self._saved and not self._may_read(file):
                file = SourceFile(path, "")
            self._files[name] = file
        return self._files[name]

    def _may_read(self, file: SourceFile) -> bool:
        if self._suffixes is None or file.path.suffix in self._suffixes or file.path.name in MAKEFILES:
            return True
        return not file.path.suffix and file.text.startswith("#!")

    @property
    def read(self) -> Mapping[str, str]:
        """The text of each file that was asked for and has one, by absolute path."""
        return {str(file.path): file.text for file in self._files.values() if file.text}


def imported_files(name: str, file: SourceFile) -> Iterator[str]:
    """Yields the files beside this one, or beside the packages it lies in, that its imports may mean."""
    above = [os.path.dirname(name)]  # noqa: PTH120 (a name)
    for _ in range(_LEVELS_ABOVE):
        above.append(os.path.dirname(above[-1]))  # noqa: PTH120 (a name)
    for node in file.all_statements:
        folders = above
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)]
            folders = above[node.level - 1 : node.level] if node.level else above
        for module in filter(None, modules):
            for folder in dict.fromkeys(folders):
                path = os.path.join(folder, *module.split("."))  # noqa: PTH118 (a name)
                yield from (f"{path}.py", os.path.join(path, "__init__.py"))  # noqa: PTH118 (a name)
