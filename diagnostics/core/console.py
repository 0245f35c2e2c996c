r"""The one place where text goes out to the terminal.

Names, messages and lines of a job, a file or a record may hold anything: nothing but newlines, tabs and the doctor's
own colours reaches the terminal as it is; the rest is shown as Python would write it, `\x1b` or `\u202e`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TextIO

ERASE = "\r\033[K"
CLEAR = "\033[2J\033[3J\033[H"  # the screen, what was scrolled off it, and back to its corner
_COLOUR = re.compile(r"(\033\[(?:0|1|2|3[1-6]|1;3[1-6])m)")  # those that the doctor uses: none hides anything


def wants_colour(stream: TextIO | None = None) -> bool:
    """Whether a stream, by default that of results, is a terminal that shows colours, and nobody asked for none."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO | None = None) -> int:
    """Returns the columns of the terminal that a stream, by default that of results, is; 0 where it is none."""
    stream = stream or sys.stdout
    try:
        if not stream.isatty():
            return 0
        return int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def printable(text: str, *, colour: bool = False) -> str:
    """Returns a text in which no character moves the cursor, hides or reorders others; `colour` lets colours pass."""
    if all(line.isprintable() for line in text.split("\n")):
        return text
    if colour:
        parts = _COLOUR.split(text)
        return "".join(part if number % 2 else _escaped(part) for number, part in enumerate(parts))
    return _escaped(text)


def printable_line(text: str) -> str:
    """Returns a text in one line: a newline in it is shown, too."""
    return text if text.isprintable() else _escaped(text, "")


def _escaped(text: str, passing: str = "\n\t") -> str:
    return "".join(
        char if char.isprintable() or char in passing else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def say(text: str = "", *, err: bool = False, nl: bool = True, colour: bool = False) -> None:
    """Writes text to stdout or, with `err`, to stderr. OSError passes: a reader that went away ends the command."""
    _write(sys.stderr if err else sys.stdout, printable(text, colour=colour) + "\n" * nl)


def ask(question: str) -> bool:
    """Returns whether the user agrees; Ctrl-C passes as click's Abort."""
    import click

    return click.confirm(printable(question), default=False, err=True)


def clear() -> None:
    """Empties the terminal that stdout is; what goes into a file or a pipe stays."""
    if sys.stdout.isatty():
        _write(sys.stdout, CLEAR)


def redraw(text: str) -> None:
    """Puts one line in the place of the last one on stderr, cut where it would wrap and could not be erased."""
    _write(sys.stderr, ERASE + printable(text)[: shutil.get_terminal_size().columns - 1])


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # a terminal of few characters
        stream.write(text.encode(stream.encoding, "backslashreplace").decode(stream.encoding))
    stream.flush()
