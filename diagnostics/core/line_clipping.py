"""Clips lines of output that are too long to be read, where text comes in: once, before anything looks at it.

Whatever is cut is cut behind a look for secrets: a cut may part a secret from the name, or from the sign behind it, by
which it would be known for one later.
"""

from __future__ import annotations

import re

from diagnostics.core import redaction

# Characters of one line. The longest that a verdict rests on are lists of a state_dict's keys, some kilobytes; what
# comes behind a progress bar or a dump without line ends stands at the end. Twice this is what any reader is given.
HEAD = TAIL = 8 << 10
MARGIN = 2 << 10  # characters within which a secret, its name and the sign behind it stand
_LONGEST = HEAD + TAIL + 64  # with the remark: what was clipped is not clipped again
_REWRITES = re.compile(r"\r+\n?")  # a progress bar writes its line again and again: each time is a line
_END_OF_WORD = re.compile(r"[\s,;|]")


def clipped_lines(text: str) -> str:
    """Returns `text` with lines of bounded length: head and tail of each longer one, and how much was between.

    A carriage return ends a line. A tail begins after the end of a word.
    """
    if "\r" in text:
        text = _REWRITES.sub("\n", text)
    if len(text) <= _LONGEST:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= _LONGEST:
        return text
    return "\n".join(line if len(line) <= _LONGEST else _clipped(line) for line in lines)


def before_cut(text: str) -> str:
    """Returns what may be kept, in lines of bounded length, of a text that goes on behind a cut: the whole lines.

    Of a last line that is long without an end, all but what the cut may have parted.
    """
    *whole, last = clipped_lines(text).split("\n")
    return "\n".join([*whole, _without_end(last)])


def after_cut(text: str) -> str:
    """Returns what may be kept, in lines of bounded length, of a text that began before a cut: the whole lines.

    Of a first line that is long without an end, all but what the cut may have parted.
    """
    first, *whole = clipped_lines(text).split("\n")
    return "\n".join([_without_start(first, len(first)), *whole])


def _clipped(line: str) -> str:
    head, tail = _without_end(line[: HEAD + MARGIN])[:HEAD], _without_start(line[-TAIL - MARGIN :], TAIL)
    return f"{head} ... {len(line) - len(head) - len(tail)} characters left out ...{tail}"


def _without_end(line: str) -> str:
    return line[: -2 * MARGIN] + redaction.text(line[-2 * MARGIN :])[:-MARGIN]


def _without_start(line: str, most: int) -> str:
    """Returns at most so many characters from the end of a line, from the end of a word on."""
    rest = redaction.text(line[: 2 * MARGIN])[MARGIN:] + line[2 * MARGIN :]
    end = _END_OF_WORD.search(rest, max(0, len(rest) - most))
    return rest[end.start() :] if end is not None else ""
