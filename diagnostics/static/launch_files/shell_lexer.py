"""Splits a shell script into words, operators and here-documents, each with its line and column. Pure.

One pass from left to right; nothing is expanded. What is not closed is a ShellError: half a script is not judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

DEEPEST = 30  # quotes and substitutions inside each other
_PLAIN = re.compile(r"[^\s;&|()<>\\'\"$`]+")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_OPERATORS = (
    "<<<", "<<-", "&>>", ";;&", "<<", ">>", "<&", ">&", "&>", "<>", ">|", "&&", "||", "|&", ";;", ";&", "<", ">", "&",
    "|", ";", "(", ")",
)  # fmt: skip
REDIRECTIONS = frozenset(["<<<", "<<-", "&>>", "<<", ">>", "<&", ">&", "&>", "<>", ">|", "<", ">"])


class ShellError(ValueError):
    """The script ends inside a quote, a substitution or a compound command, or nests too deeply."""


@dataclass(frozen=True, slots=True)
class Token:
    """A "word" as it is written, an "operator", or a "newline"; `body` is the text of a here-document."""

    kind: str
    text: str
    line: int
    column: int
    body: str = ""
    start: int = 0  # offsets in the script
    end: int = 0


@dataclass(slots=True)
class _Reading:
    """How far a script is read."""

    text: str
    at: int = 0
    line: int = 1
    line_start: int = 0
    tokens: list[Token] = field(default_factory=list)
    awaited: list[int] = field(default_factory=list)  # tokens of the here-documents whose bodies follow


def tokens(text: str, first_line: int = 1) -> list[Token]:
    """Returns the tokens of a script. Raises ShellError where it is not closed."""
    reading = _Reading(text, line=first_line)
    while reading.at < len(text):
        _next(reading)
    return reading.tokens


def _next(reading: _Reading) -> None:
    text, at = reading.text, reading.at
    char = text[at]
    if char == "\n":
        _add(reading, "newline", at + 1)
        if reading.awaited:
            _read_bodies(reading)
    elif char in " \t\r":
        reading.at += 1
    elif text.startswith("\\\n", at) or text.startswith("\\\r\n", at):
        _pass(reading, text.index("\n", at) + 1)
    elif char == "#":
        end = text.find("\n", at)
        reading.at = len(text) if end < 0 else end
    elif text.startswith("((", at) and text[(end := _closed(text, at + 1, 0)) - 2 : end] == "))":
        _add(reading, "word", end)  # ((i < 4)) is arithmetic: nothing in it is a redirection
    else:
        operator = next((one for one in _OPERATORS if text.startswith(one, at)), "")
        if operator and not text.startswith(("<(", ">("), at):
            _add(reading, "operator", at + len(operator))
        else:
            _add(reading, "word", word_end(text, at))
            _expect_body(reading)


def _expect_body(reading: _Reading) -> None:
    before = reading.tokens[-2] if len(reading.tokens) > 1 else None
    if before is not None and before.kind == "operator" and before.text in ("<<", "<<-"):
        reading.awaited.append(len(reading.tokens) - 1)


def _add(reading: _Reading, kind: str, end: int) -> None:
    text = reading.text[reading.at : end]
    column = reading.at - reading.line_start + 1
    reading.tokens.append(Token(kind, text, reading.line, column, start=reading.at, end=end))
    _pass(reading, end)


def _pass(reading: _Reading, end: int) -> None:
    newlines = reading.text.count("\n", reading.at, end)
    if newlines:
        reading.line += newlines
        reading.line_start = reading.text.rindex("\n", reading.at, end) + 1
    reading.at = end


def _read_bodies(reading: _Reading) -> None:
    for index in reading.awaited:
        token = reading.tokens[index]
        tabs = reading.tokens[index - 1].text == "<<-"
        delimiter = token.text.replace("'", "").replace('"', "").replace("\\", "")
        start = reading.at
        while reading.at < len(reading.text):
            end = reading.text.find("\n", reading.at)
            end = len(reading.text) if end < 0 else end
            row = reading.text[reading.at : end].rstrip("\r")
            body_end = reading.at
            _pass(reading, min(end + 1, len(reading.text)))
            if (row.lstrip("\t") if tabs else row) == delimiter:
                break
        else:
            body_end = len(reading.text)
        body = reading.text[start:body_end]
        reading.tokens[index] = Token("word", token.text, token.line, token.column, body, token.start, token.end)
    reading.awaited.clear()


def word_end(text: str, at: int, deep: int = 0) -> int:
    """Returns where the word that begins at `at` ends."""
    start = at
    while at < len(text):
        char = text[at]
        if char in " \t\n\r;&|":
            break
        if char in "()<>":
            array = char == "(" and text[at - 1] == "=" and at > start
            pattern = char == "(" and at > start and text[at - 1] in "?*+@!"
            process = char in "<>" and text.startswith("(", at + 1)
            if not (array or pattern or process):
                break
            at = _closed(text, at + (2 if process else 1), deep + 1)
            continue
        at = _part_end(text, at, deep)
    return at


def _part_end(text: str, at: int, deep: int) -> int:
    """Returns where one quote, substitution or run of plain characters ends."""
    if deep > DEEPEST:
        raise ShellError("nested too deeply")
    char = text[at]
    if char == "\\":
        return min(at + 2, len(text))
    if char == "'":
        return _index(text, "'", at + 1) + 1
    if char == '"':
        return _quoted_end(text, at + 1, deep + 1)
    if char == "`":
        return _backquote_end(text, at + 1)
    if char == "$":
        return dollar_end(text, at, deep)
    plain = _PLAIN.match(text, at)
    return plain.end() if plain else at + 1


def dollar_end(text: str, at: int, deep: int = 0) -> int:
    """Returns where the expansion that begins at `at` ends; behind the `$` where it is none."""
    if deep > DEEPEST:
        raise ShellError("nested too deeply")
    if text.startswith("$(", at):
        return _closed(text, at + 2, deep + 1)
    if text.startswith("${", at):
        return _braced_end(text, at + 2, deep + 1)
    if text.startswith("$'", at):
        return _backslashed_end(text, at + 2)
    return at + 1


def _quoted_end(text: str, at: int, deep: int) -> int:
    while at < len(text):
        char = text[at]
        if char == '"':
            return at + 1
        if char == "\\":
            at += 2
        elif char == "$":
            end = at + 1 if text.startswith("$'", at) else dollar_end(text, at, deep)
            at = end
        elif char == "`":
            at = _backquote_end(text, at + 1)
        else:
            plain = _IN_QUOTES.match(text, at)
            at = plain.end() if plain else at + 1
    raise ShellError("a double quote is not closed")


def _closed(text: str, at: int, deep: int) -> int:
    """Returns where the parenthesis that is open before `at` is closed."""
    opened = 1
    while at < len(text):
        char = text[at]
        if char == "(":
            opened, at = opened + 1, at + 1
        elif char == ")":
            opened, at = opened - 1, at + 1
            if not opened:
                return at
        elif char == "#" and text[at - 1] in " \t\n;":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif char in " \t\n\r;&|<>":
            at += 1
        else:
            at = _part_end(text, at, deep)
    raise ShellError("a parenthesis is not closed")


def _braced_end(text: str, at: int, deep: int) -> int:
    while at < len(text):
        char = text[at]
        if char == "}":
            return at + 1
        if char in "\\'\"`$":
            # An apostrophe in ${X:-it's} closes nothing inside double quotes: fine where one follows.
            at = _part_end(text, at, deep)
        else:
            at += 1
    raise ShellError("a brace is not closed")


def _backquote_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            return at + 1
        else:
            at += 1
    raise ShellError("a backquote is not closed")


def _backslashed_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "'":
            return at + 1
        else:
            at += 1
    raise ShellError("a quote is not closed")


def _index(text: str, char: str, at: int) -> int:
    found = text.find(char, at)
    if found < 0:
        raise ShellError("a quote is not closed")
    return found
