"""Where a value begins and ends on its line: in quotes, in brackets, or bare. Pure, and linear in the line's length."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # as of typing, which a job need not import
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 8192  # characters of one value
_LOOK = 512  # of a bare one, that are looked at to tell what it is
_START = re.compile(r"""[rbfuRBFU]{0,2}(?P<quote>\\{0,3}(?:"{3}|'{3}|["']))""")
_BARE = re.compile(rf"[^\s'\"\x1f]{{1,{_LOOK}}}")
_MORE = re.compile(rf"[^\s'\"\x1f]{{0,{_MOST}}}")
# Where a bare value ends: before the next name of a list or a query, at a literal's \n, at another rank's --option.
_CUT = re.compile(r"[,;&](?=$|[\w.-]{1,64}[=:])|[,;]$|`|--(?=[A-Za-z][\w-]{0,64}$)")
_TOKEN = re.compile(r"""\\{0,3}(?:"{3}|'{3}|["'])|[()\[\]{}]|[^"'()\[\]{}\\]{1,4096}|\\""")
_QUOTE = re.compile(r"[\"']")
_KEY = re.compile(r"\s{0,2}:(?!\])")
_OPEN, _CLOSE = "([{", ")]}"


def quoted(line: str, at: int) -> tuple[int, int, int] | None:
    """Returns (start, end, after) of the literal that begins here, None where none does; without its end, all is in."""
    start = _START.match(line, at)
    if start is None:
        return None
    begin, quote = start.end(), start["quote"]
    end = line.find(quote, begin)
    while end > begin and len(quote) == 1 and line[end - 1] == "\\":  # an escaped quote is part of it
        end = line.find(quote, end + 1)
    return (begin, len(line), len(line)) if end < 0 else (begin, end, end + len(quote))


def joined(line: str, at: int) -> Iterator[tuple[int, int, int]]:
    """Yields (start, end, after) of the literals that stand one behind another, as Python and a shell join them."""
    while (found := quoted(line, at)) is not None:
        yield found
        at = found[2]
        while line[at : at + 1] in (" ", "\t") and at - found[2] < 4:
            at += 1


def bare(line: str, at: int) -> int:
    """Returns the end of the value without quotes that begins here, `at` where none does."""
    found = _BARE.match(line, at)
    if found is None:
        return at
    text = found[0]
    cut = _CUT.search(text, 1)
    if cut is not None:
        text = text[: cut.start()]
    while (
        text
        and text[-1] in ")]}>,;"
        and not (text[-1] in _CLOSE and text.count(_OPEN[_CLOSE.index(text[-1])]) >= text.count(text[-1]))
    ):
        text = text[:-1]
    return at + len(text)


def whole(line: str, at: int, end: int) -> int:
    """Returns the end of a bare value that is longer than what is looked at."""
    more = _MORE.match(line, end) if end - at >= _LOOK else None
    return more.end() if more is not None else end


def group(line: str, at: int, most: int = _MOST) -> tuple[list[tuple[int, int]], int]:
    """Returns the literals inside the bracket that opens here, as (start, end) without keys, and where it closes."""
    found: list[tuple[int, int]] = []
    depth, pos, limit = 0, at, min(len(line), at + most)
    while pos < limit:
        token = _TOKEN.match(line, pos)
        if token is None:
            break
        pos = token.end()
        text = token[0]
        if text in _OPEN:
            depth += 1
        elif text in _CLOSE:
            depth -= 1
            if depth <= 0:
                return found, pos
        elif text.lstrip("\\")[:1] in ("'", '"'):
            literal = quoted(line, token.start())
            if literal is None:
                break
            begin, end, pos = literal
            if not _KEY.match(line, pos):
                found.append((begin, end))
    return found, pos


def literals_of(value: str) -> Iterator[tuple[int, int, int]]:
    """Yields (start, end, after) of every literal of a line."""
    at = 0
    while (start := _QUOTE.search(value, at)) is not None:
        found = quoted(value, start.start())
        if found is None:
            return
        yield found
        at = found[2]
