"""The recipes of a Makefile: each line a script of its own, as make runs it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_VARIABLE = re.compile(r"\$[({]([\w.-]+)[)}]")
_AUTOMATIC = re.compile(r"\$[@<^+?*%|](?!\w)")
_SHELL = re.compile(r"^[ \t]*SHELL[ \t]*[:?]?=[ \t]*(?:\S*/)?(\w+)", re.MULTILINE)
_FLAGS = re.compile(r"^\.SHELLFLAGS[ \t]*[:?]?=(.*)$", re.MULTILINE)
_FUNCTION = re.compile(r"\$\(\w+\s[^()]*(?:\([^()]*\)[^()]*)*\)")
_LONG_NAME = re.compile(r"(?<!\$)(?:\$\$)*\$([A-Za-z])(\w+)")
_DEFINED = re.compile(r"^(?:override[ \t]{1,9}|export[ \t]{1,9})?([A-Za-z])[ \t]{0,99}(?:[:?+!]?=|::=)", re.MULTILINE)
_STARTER = re.compile(
    r"^(\w+)[ \t]{0,99}(?:[:?]|::)?=[ \t]*((?:\S*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed)(?:[ \t][^\n#$]*)?)$",
    re.MULTILINE,
)
_IGNORES = re.compile(r"^\.IGNORE\s*:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One line of a recipe, with those it goes on in. `ignored`: make takes no notice of its exit code."""

    text: str
    line: int
    ignored: bool


def shell_of(text: str) -> tuple[str, list[str]]:
    """Returns the shell that runs the recipes, and the options it is given."""
    named, flags = _SHELL.search(text), _FLAGS.search(text)
    return named[1] if named else "sh", flags[1].split() if flags else []


def recipes(text: str) -> tuple[Recipe, ...]:
    """Returns the recipe lines in order; of make's own variables a shell variable of the name is left.

    But for those that are a launcher, as in `PYTHON ?= python`: it stands there itself.
    """
    starters = {found[1]: found[2].rstrip() for found in _STARTER.finditer(text)}
    ignores = _IGNORES.search(text) is not None
    found: list[Recipe] = []
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        first = at
        while rows[at].endswith("\\") and at + 1 < len(rows):
            at += 1
        whole = rows[first : at + 1]
        at += 1
        if not whole[0].startswith("\t"):
            continue
        prefix = re.match(r"\t[\s@+-]*", whole[0])
        start = prefix.end() if prefix else 1
        body = "\n".join([" " * start + whole[0][start:], *(row.removeprefix("\t") for row in whole[1:])])
        ignored = ignores or "-" in whole[0][:start]
        found.append(Recipe(text=_as_shell(body, starters), line=first + 1, ignored=ignored))
    return tuple(found)


def split_names(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields (line, column, name) of `$name` in recipes: make takes its first letter for the whole name.

    Not of a letter that the Makefile sets, `$Vx`.
    """
    defined = {found[1] for found in _DEFINED.finditer(text)}
    inside = False
    for number, row in enumerate(text.split("\n"), 1):
        if inside or row.startswith("\t"):
            for found in _LONG_NAME.finditer(row):
                if found[1] not in defined:
                    yield number, found.end() - len(found[2]) - 1, found[1] + found[2]
        inside = row.endswith("\\") and (inside or row.startswith("\t"))


def _as_shell(text: str, starters: Mapping[str, str]) -> str:
    def written(found: re.Match[str]) -> str:
        return starters.get(found[1]) or "${" + _name(found[1]) + "}"

    text = text.replace("$$", "\0")
    text = _AUTOMATIC.sub("${_}", _FUNCTION.sub("${_}", _VARIABLE.sub(written, text)))
    return text.replace("\0", "$")


def _name(name: str) -> str:
    return re.sub(r"\W", "_", name)
