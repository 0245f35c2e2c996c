"""Clips lines of output that are too long to be read, where text comes in: once, before anything looks at it. Pure."""

from __future__ import annotations

import re

# Characters of one line. The longest that a verdict rests on are lists of a state_dict's keys, some kilobytes; what
# comes behind a progress bar or a dump without line ends stands at the end. Twice this is what any reader is given.
HEAD = TAIL = 8 << 10
_LONGEST = HEAD + TAIL + 64  # with the remark: what was clipped is not clipped again
_REWRITES = re.compile(r"\r+\n?")  # a progress bar writes its line again and again: each time is a line
_END_OF_WORD = re.compile(r"[\s,;|]")


def clipped_lines(text: str) -> str:
    """Returns `text` with lines of bounded length: head and tail of each longer one, and how much was between.

    A carriage return ends a line. A tail begins after the end of a word, so that no secret is cut off its name.
    """
    if "\r" in text:
        text = _REWRITES.sub("\n", text)
    if len(text) <= _LONGEST:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= _LONGEST:
        return text
    return "\n".join(line if len(line) <= _LONGEST else _clipped(line) for line in lines)


def _clipped(line: str) -> str:
    end = _END_OF_WORD.search(line, len(line) - TAIL)
    tail = line[end.start() :] if end is not None else ""
    return f"{line[:HEAD]} ... {len(line) - HEAD - len(tail)} characters left out ...{tail}"
