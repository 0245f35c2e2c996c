"""A man page from what the commands say of themselves, in roff with the macros of man(7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandText:
    """One command: its usage, what it says of itself, and its options with their help."""

    name: str
    usage: str
    text: str
    options: tuple[tuple[str, str], ...] = ()


def man_page(program: str, version: str, summary: str, commands: Sequence[CommandText], ending: str) -> str:
    """Returns the page; `ending` is what the program says of its exit codes."""
    lines = [
        f'.TH "{_escaped(program.upper())}" "1" "" "{_escaped(program)} {_escaped(version)}"',
        ".SH NAME",
        f"{_escaped(program)} \\- {_escaped(summary)}",
        ".SH SYNOPSIS",
        f".B {_escaped(program)}",
        "COMMAND [ARGS]...",
        ".SH COMMANDS",
        *(line for command in commands for line in _command(command)),
        ".SH EXIT STATUS",
        *_prose(ending),
    ]
    return "\n".join(lines) + "\n"


def _command(command: CommandText) -> Iterator[str]:
    yield f'.SS "{_escaped(command.usage)}"'
    yield from _prose(command.text)
    for option, said in command.options:
        yield ".TP"
        yield f"\\fB{_escaped(option)}\\fR"
        yield _line(said)


def _prose(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(_PARAGRAPH.split(text.strip())):
        if number:
            yield ".PP"
        yield _line(paragraph)


def _line(text: str) -> str:
    """Returns text as one line that no macro begins."""
    line = _escaped(" ".join(text.split()))
    return f"\\&{line}" if line[:1] in {".", "'"} else line


def _escaped(text: str) -> str:
    """Returns text that roff shows as it is: a minus stays one that can be pasted."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("`", "\\(ga")
