"""Takes the secrets out of one line: what stands under the name of one, and what shows it by its form."""

from __future__ import annotations

import re

from .secret_literals import literals_of
from .secret_programs import without_programs
from .secret_scan import Scan
from .secret_shapes import without_known, without_shapes
from .secret_values import is_said, is_secret_value
from .trigger_words import HIDDEN

_GLUED_OPTION = re.compile(  # to what another rank has just written
    r"(?<=[A-Za-z0-9=+/!])(?P<name>--[A-Za-z][\w-]{0,64})(?P<gap>[ \t]{1,4})(?P<value>[^\s'\"-][^\s'\"]{0,512})"
)
_NAMED_VALUE = re.compile(
    r"""(?:\bname|\bkey|\bid)["']?\s{0,2}[:=]\s{0,2}["']?(?P<name>[A-Za-z_][\w.-]{1,80})["']?[ ,;]{1,3}"""
    r"""["']?value["']?\s{0,2}[:=]\s{0,2}["']?(?P<value>[^\s"'<>]{1,512})"""
)

_ESCAPES = {"\\" * n + letter: chr(0x2000 + 3 * n + i - 3) for n in (1, 2, 3) for i, letter in enumerate("nrt")}
_ESCAPED = re.compile(r"(?<!\\)\\{1,3}[nrt]")
_SPACES = re.compile("[\u2000-\u2008]")


def without_secrets(line: str, *, quoted_only: bool = False) -> str:
    """Returns one line without secrets; `quoted_only` leaves code whole: of assignments only literals are hidden."""
    escapes = {}
    if "\\" in line and not _SPACES.search(line):
        # What a literal shows as \n is a line's end to the forms: a token may begin behind it.
        escapes = {space: escape for escape, space in _ESCAPES.items() if escape in line}
        line = _ESCAPED.sub(lambda match: _ESCAPES[match[0]], line)
    if "--" in line:
        line = _GLUED_OPTION.sub(_glued, line)  # first: the others would take it for the end of a value
    lower = line.lower()
    line = without_programs(without_shapes(line, lower), lower)
    if "value" in lower:
        line = _NAMED_VALUE.sub(_named_value, line)
    line = without_known(Scan(line, quoted_only).shown())
    return _SPACES.sub(lambda match: escapes[match[0]], line) if escapes else line


def _glued(match: re.Match[str]) -> str:
    hide = not is_said(match["value"]) and is_secret_value(match["name"], match["value"])
    return "".join((match["name"], match["gap"], HIDDEN)) if hide else match[0]


def _named_value(match: re.Match[str]) -> str:
    hide = is_secret_value(match["name"], match["value"].strip("\"'"))
    return match[0][: match.start("value") - match.start()] + HIDDEN if hide else match[0]


def is_secret_variable(name: str, value: str) -> bool:
    """Whether a variable, a field or an attribute of this name and value is a secret."""
    if is_secret_value(name, value):
        return True
    found = [value[begin:end] for begin, end, _ in literals_of(value)] if value[:1] not in ("'", '"') else []
    return any(is_secret_value(name, one) for one in found)


def is_secret(name: str, value: str) -> bool:
    """Whether `value`, standing under `name`, has to be hidden."""
    return is_secret_value(name, value)
