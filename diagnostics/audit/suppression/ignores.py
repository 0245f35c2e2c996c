"""`# ups: ignore[A101] reason` in comments: where they stand, which lines they mean, what is wrong with them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.project_file import FileKind, ProjectFile

MARK = re.compile(r"#\s*ups:\s*ignore(?P<whole>-file)?(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*)", re.IGNORECASE)
WRITTEN = "# ups: ignore[A101] reason"
FIRST_LINES = 30  # ignore-file stands at the top, where everybody reads it
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """One comment. `lines` are those it means, empty for the whole file."""

    file: ProjectFile
    line: int
    column: int
    codes: tuple[str, ...]
    reason: str
    whole_file: bool
    lines: frozenset[int] = frozenset()
    problem: str = ""  # why it means nothing

    @property
    def places(self) -> frozenset[str]:
        """The lines it means, as hits and steps name them."""
        return frozenset(self.file.place(line) for line in self.lines)

    def names(self, code: str) -> bool:
        """Returns whether it is about this rule."""
        return any(code.startswith(one) for one in self.codes)


def ignores(file: ProjectFile) -> Iterator[Ignore]:
    """Yields the comments of a file that tell the audit to be silent."""
    if "ups:" not in file.text.lower() or not MARK.search(file.text):
        return
    below = _code_below(file)
    for line, column, comment in _comments(file):
        found = MARK.search(comment)
        if found is not None:
            yield _ignore(file, line, column + found.start(), found, below)


def _code_below(file: ProjectFile) -> list[int]:
    """Returns for each line the next one below it that holds code, itself where there is none."""
    below, next_one = [0] * (len(file.lines) + 1), 0
    for number in range(len(file.lines), 0, -1):
        below[number] = next_one or number
        text = file.lines[number - 1].strip()
        next_one = number if text and not text.startswith("#") else next_one
    return below


def _ignore(file: ProjectFile, line: int, column: int, found: re.Match[str], below: list[int]) -> Ignore:
    codes = tuple(word.upper() for word in (found["codes"] or "").replace(",", " ").split())
    whole = found["whole"] is not None
    bare = not file.line(line)[:column].strip()
    reason = found["reason"].strip(" \t-:.")
    return Ignore(
        file=file,
        line=line,
        column=column + 1,
        codes=codes,
        reason=reason,
        whole_file=whole,
        lines=frozenset() if whole else _meant(file, line, below[line] if bare else line),
        problem=_problem(codes, reason, late=whole and line > FIRST_LINES),
    )


def _problem(codes: tuple[str, ...], reason: str, *, late: bool) -> str:
    if not codes:
        return "names no rule"
    odd = [code for code in codes if not re.fullmatch(r"A\d{0,3}", code)]
    if odd:
        return f"names {odd[0]}, which is no code of a rule"
    if not re.search(r"\w", reason):
        return "gives no reason"
    return f"stands below line {FIRST_LINES}, where nobody looks for it" if late else ""


def _comments(file: ProjectFile) -> Iterator[tuple[int, int, str]]:
    """Yields (line, column from 0, text) of each comment."""
    if file.kind is FileKind.PYTHON:
        try:
            for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
                if token.type == tokenize.COMMENT:
                    yield *token.start, token.string
        except (tokenize.TokenError, SyntaxError):  # as far as it goes
            return
        return
    for number, line in enumerate(file.lines, 1):
        found = _COMMENT.search(line)
        if found is not None:
            yield number, found.start(), found[0]


def _meant(file: ProjectFile, line: int, target: int) -> frozenset[int]:
    """Returns the lines of the statement at `target`: beside the comment, or below one that stands alone."""
    if file.kind is FileKind.PYTHON:
        return frozenset({line, target, *_statement(file, target)})
    last = target
    while file.line(last).rstrip().endswith("\\"):
        last += 1
    return frozenset({line, *range(target, last + 1)})


def _statement(file: ProjectFile, line: int) -> range:
    """Returns the lines of the smallest statement on `line`; of one with a body those of its head."""
    statement = file.statement_at(line)
    if statement is None:
        return range(line, line + 1)
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        first = min((one.lineno for one in getattr(statement, "decorator_list", ())), default=statement.lineno)
        head = range(first, max(first, body[0].lineno - 1) + 1)
        return head if line in head else range(line, line + 1)
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
