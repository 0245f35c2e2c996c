"""Reads the job's source files, bounded, for analysis and for the lines shown in a report."""

from __future__ import annotations

import ast
import os
import stat
from functools import cached_property
from pathlib import Path

MAX_SOURCE_BYTES = 4 << 20


class SourceFile:
    """One Python file; `lines` is empty where it cannot be read, `tree` None where it is no Python."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def text(self) -> str:
        """The file's text, "" where it cannot be read."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return ""
        with os.fdopen(fd, "rb") as file:
            regular = stat.S_ISREG(os.fstat(fd).st_mode)
            return file.read(MAX_SOURCE_BYTES).decode("utf-8", "replace") if regular else ""

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module | None:
        """The parsed file."""
        try:
            return ast.parse(self.text) if self.text else None
        except (SyntaxError, ValueError, RecursionError):
            return None

    def statement_at(self, line: int) -> ast.stmt | None:
        """Returns the smallest statement that spans `line`."""
        if self.tree is None:
            return None
        spanning = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return min(spanning, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)

    def function_at(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Returns the innermost function that spans `line`."""
        if self.tree is None:
            return None
        functions = (n for n in ast.walk(self.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
        spanning = [node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return max(spanning, key=lambda node: node.lineno, default=None)

    def around(self, line: int, *, reach: int = 2) -> tuple[str, ...]:
        """Returns the lines around `line`, numbered, that one marked by ">"."""
        first, last = max(1, line - reach), min(len(self.lines), line + reach)
        marks = ((number, ">" if number == line else " ") for number in range(first, last + 1))
        return tuple(f"{mark} {number:4d}  {self.lines[number - 1]}" for number, mark in marks)


class Sources:
    """Source files by the name Python gave them, relative ones below the job's start folder."""

    def __init__(self, cwd: str) -> None:
        self._cwd = Path(cwd or ".")
        self._files: dict[str, SourceFile] = {}

    def file(self, name: str) -> SourceFile:
        """Returns the file, read when first needed."""
        if name not in self._files:
            self._files[name] = SourceFile(self._cwd / name)
        return self._files[name]
