"""Expands the words of a shell script as far as the script itself says what its variables hold. Pure.

What is not known stays as it is written: `$GPUS`, `${PORT:-29500}`, `$(nproc)`. A number is never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from diagnostics.static.launch_files.shell_lexer import ShellError, Token, dollar_end

Value = str | tuple[str, ...] | None  # None: assigned, but nobody knows what
MOST_WORDS = 500  # of one variable: a list of files is no part of a launch line
MOST_TEXT = 1 << 16
MOST_VALUE = 1 << 13
_NAMED = re.compile(r"\$(?:\{(\w+)(\[[@*]\])?(:?[-=][^}]*)?\}|(\w+))", re.ASCII)
_BACKSLASHED = re.compile(r"\\([`$\\])")
_PLAIN = re.compile(r"[^\\'\"$`]+")


def expand(written: str, variables: Mapping[str, Value]) -> list[str]:
    """Returns the words that one written word becomes: several where an unquoted variable holds several."""
    fields: list[str] = [""]
    begun = False
    at = 0
    while at < len(written) and len(fields) < MOST_WORDS:
        char = written[at]
        end, pieces, splits = _piece(written, at, variables)
        # A value that begins with a space begins a new word, but for one that has no letter yet.
        first = 2 if not begun and fields == [""] and pieces[:1] == [""] else 1
        begun = begun or char in "'\"" or any(pieces)
        for number, piece in enumerate(pieces):
            if number >= first and splits:
                fields.append("")
            fields[-1] += piece
        at = end
    if len(written) > MOST_TEXT or sum(map(len, fields)) > MOST_TEXT:
        return [written]
    return fields if begun else []


def text_of(written: str, variables: Mapping[str, Value]) -> str:
    """Returns what a written word is as one text, as in an assignment."""
    return " ".join(expand(written, variables))


def array_of(written: str, variables: Mapping[str, Value]) -> tuple[str, ...] | None:
    """Returns the items of `(a b c)`, None of anything else."""
    if not (written.startswith("(") and written.endswith(")")):
        return None
    from diagnostics.static.launch_files.shell_lexer import tokens

    try:
        items = [token.text for token in tokens(written[1:-1]) if token.kind == "word"]
    except ShellError:
        return None
    found = tuple(word for item in items[: MOST_WORDS + 1] for word in expand(item, variables))
    return found if len(found) <= MOST_WORDS else None


def _piece(written: str, at: int, variables: Mapping[str, Value]) -> tuple[int, list[str], bool]:
    """Returns where the piece at `at` ends, the texts it becomes, and whether these are words of their own."""
    char = written[at]
    if char == "\\":
        return at + 2, [written[at + 1 : at + 2].replace("\n", "")], False
    if char == "'":
        end = written.find("'", at + 1)
        return (end + 1, [written[at + 1 : end]], False) if end > 0 else (len(written), [written[at + 1 :]], False)
    if char == '"':
        return _quoted(written, at + 1, variables)
    if char == "$":
        end = dollar_end(written, at)
        if end == at + 1 and (named := _NAMED.match(written, at)):
            end = named.end()
        return end, _variable(written[at:end], variables, split=True), True
    if char == "`":
        end = written.find("`", at + 1)
        return (end + 1 if end > 0 else len(written)), [written[at : end + 1] if end > 0 else written[at:]], False
    plain = _PLAIN.match(written, at)
    assert plain is not None  # noqa: S101 - every other character was looked at above
    return plain.end(), [plain[0]], False


def _quoted(written: str, at: int, variables: Mapping[str, Value]) -> tuple[int, list[str], bool]:
    text, items = "", [""]
    while at < len(written) and written[at] != '"':
        char = written[at]
        if char == "\\":
            after = written[at + 1 : at + 2]
            text = {"\n": ""}.get(after, after if after in '$`"\\' else "\\" + after)
            at += 2
        elif char == "$":
            named = _NAMED.match(written, at)
            is_plain = written.startswith("$'", at)  # in double quotes it begins nothing
            end = named.end() if named else at + 1 if is_plain else max(dollar_end(written, at), at + 1)
            whole = bool(named and named[2] == "[@]")
            pieces = _variable(written[at:end], variables, split=whole)
            items[-1] += pieces[0] if pieces else ""
            items.extend(pieces[1:])
            at, text = end, ""
        else:
            plain = _PLAIN.match(written, at)
            text = plain[0] if plain else char
            at += len(text)
        items[-1] += text
    return at + 1, items, len(items) > 1


def _variable(written: str, variables: Mapping[str, Value], *, split: bool) -> list[str]:
    """Returns what an expansion becomes, itself where that is not known."""
    named = _NAMED.fullmatch(written)
    if named is None:
        return [written]
    value = variables.get(named[1] or named[4])
    if value is None:
        return [written]
    if isinstance(value, str) and len(value) > MOST_VALUE:
        return [written]
    if isinstance(value, tuple):
        items = list(value) if named[2] else [*value[:1]]
        return (items if split else [" ".join(items)]) or [""]
    if split and not named[2] and not named[3]:
        words = value.split()
        front = [""] if value[:1].isspace() and words else []
        return [*front, *words] or [""]
    return [value]


def substitutions_in(token: Token) -> Iterator[tuple[str, int]]:
    """Yields the scripts in one word as it is written; arithmetic is none."""
    text, at, quoted = token.text, 0, False
    while at < len(text):
        char = text[at]
        end, inner = at + 1, ""
        if char == "\\":
            end = at + 2
        elif char == '"':
            quoted = not quoted
        elif char == "'" and not quoted:
            end = (text.find("'", at + 1) + 1) or len(text)
        elif text.startswith("$((", at):
            end = _after_dollar(text, at)
        elif text.startswith("$(", at):
            end = _after_dollar(text, at)
            inner = text[at + 2 : end - 1]
        elif char == "`":
            end = _backquote_end(text, at + 1)
            inner = _BACKSLASHED.sub(r"\1", text[at + 1 : end - 1])
        if inner.strip():
            yield inner, token.line + text.count("\n", 0, at)
        at = end


def _after_dollar(text: str, at: int) -> int:
    try:
        return dollar_end(text, at)
    except ShellError:
        return len(text)


def _backquote_end(text: str, at: int) -> int:
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))
