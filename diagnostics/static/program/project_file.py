"""One file that is audited: what kind it is, its text, its syntax, and why it could not be read. Pure."""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePath

from diagnostics.core.python_syntax import parsed
from diagnostics.static.program.ast_walk import children, too_deep
from diagnostics.static.program.source_file import SourceFile

DEEPEST = 250  # nodes in nodes: rules that walk down in calls of their own would come to the end of the stack


class FileKind(StrEnum):
    """What language a file is in; a rule says which it reads."""

    PYTHON = "python"  # scripts, modules, and the code cells of notebooks
    SHELL = "shell"  # also Slurm's batch scripts
    YAML = "yaml"
    DOCKERFILE = "dockerfile"
    MAKEFILE = "makefile"
    JSON = "json"  # configurations of DeepSpeed
    REQUIREMENTS = "requirements"  # of pip: no rule reads it, it says which versions the others are about
    OTHER = "other"


class ProjectFile(SourceFile):
    """One file by the path that is shown for it.

    `raw` is its bytes. `text` is "" and `problem` one sentence where they cannot be decoded; `tree` is None and
    `problem` says why where it is no Python. Of a notebook, `text` is the code of its cells and `cells` says which
    lines are whose.
    """

    def __init__(
        self, shown: str, raw: bytes, kind: FileKind, *, code: str | None = None, cells: tuple[int, ...] = ()
    ) -> None:
        super().__init__(Path(shown), saved="")
        self.shown = shown
        self.kind = kind
        self.cells = cells  # of a notebook: the first line of each code cell in `text`, from 1
        self.problem = ""
        self.raw = raw
        self._code = code

    @cached_property
    def is_test(self) -> bool:
        """Whether it is a test, as its name or that of a folder says: it runs alone, on one machine."""
        path = PurePath(self.shown)
        if any(part in ("tests", "test", "testing") for part in path.parts) or path.stem.startswith("test_"):
            return True
        return path.stem.endswith("_test") and not self.words.isdisjoint(("unittest", "pytest", "TestCase"))

    @cached_property
    def text(self) -> str:
        """The file's text, "" where it cannot be decoded."""
        if self._code is not None:
            return self._code
        try:
            return decoded(self.raw, self.kind)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            self.problem = f"cannot be decoded: {_one_line(error)}"
            return ""

    @cached_property
    def tree(self) -> ast.Module | None:
        """The parsed file, None where it is no Python."""
        if self.kind is not FileKind.PYTHON or not self.text:
            return ast.parse("") if self.kind is FileKind.PYTHON and not self.problem else None
        try:
            tree = parsed(self.text)
            if (line := too_deep(tree, DEEPEST)) is None:
                return tree
            self.problem = f"line {line} is nested more than {DEEPEST} deep, which no rule follows"
        except SyntaxError as error:
            self.problem = f"line {error.lineno or 1} is no Python 3: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            self.problem = f"cannot be parsed: {_one_line(error)}"
        return None

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines as ast counts them: a form feed ends none."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        return lines[:-1] if not lines[-1] else lines

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text: rules that need one of some words are not asked about files without."""
        return frozenset(re.findall(r"\w+", self.text))

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The node around each node."""
        found: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.tree] if self.tree is not None else []
        while waiting:
            node = waiting.pop()
            below = children(node)
            waiting += below
            for child in below:
                found[child] = node
        return found

    def place(self, line: int) -> str:
        """Returns "train.py:12", of a notebook "study.ipynb:cell 3:2"."""
        number = bisect.bisect_right(self.cells, line)
        if number:
            return f"{self.shown}:cell {number}:{line - self.cells[number - 1] + 1}"
        return f"{self.shown}:{line}"

    def line(self, number: int) -> str:
        """Returns one line of the text, "" past its end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


def decoded(raw: bytes, kind: FileKind) -> str:
    """Returns the text of a file: Python by its own declaration, everything else as UTF-8.

    Raises SyntaxError, UnicodeDecodeError or LookupError where that does not work.
    """
    if kind is not FileKind.PYTHON:
        return raw.decode("utf-8-sig", "replace")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
