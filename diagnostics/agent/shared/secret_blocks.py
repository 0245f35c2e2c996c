"""Values that begin on the line after their name: YAML's folded ones and lists, brackets, long literals.

password: >-                 - name: DB_PW             api_key = (            token = <three quotes>
  VALUE                        value: VALUE                "VALUE"            VALUE
"""

from __future__ import annotations

import re

from .secret_literals import group
from .secret_names import NONE, SURE, strength
from .secret_programs import asks_for_a_secret
from .secret_values import is_generated, is_nothing, is_secret_value, like_password
from .trigger_words import HIDDEN

_MOST_LINES = 60
_OPENS = re.compile(
    r"""^(?P<indent>[ \t]{0,80})(?P<dash>-\s{1,4})?(?:export\s|set\s)?["']?(?P<name>[A-Za-z_][\w.-]{0,127})"""
    r"""["']?\]?\s{0,4}(?:[:=]|:\s{0,2}[\w.\[\]]{1,40}\s{0,2}=)"""
    r"""\s{0,4}(?:!\S{1,40}\s{0,2})?(?P<how>[|>][+-]?\d?|[(\[{]|[rbfu]{0,2}(?:\"{3}|'{3})|\\)?\s{0,4}(?:#.{0,200})?$"""
)
_NAMES = re.compile(
    r"""^\s{0,80}(?:-\s{1,4})?["']?(?:name|key|Name|Key)["']?\s{0,2}:\s{0,4}["']?"""
    r"""(?P<name>[A-Za-z_][\w.-]{0,127})["']?,?\s{0,4}$"""
)
_VALUE = re.compile(r"""^(?P<keep>\s{0,80}["']?(?i:value)["']?\s{0,2}:\s{0,4})(?P<value>[^#\n]{1,4096})$""")
_ITEM = re.compile(r"""^(?P<keep>\s{0,200}(?:-\s{1,4})?)(?P<value>\S[^\n]{0,8191})$""")
_HERE = re.compile(r"""(?<!<)<<(?!<)-?\s?\\?["']?(?P<end>[A-Za-z_]\w{0,40})["']?""")
_MAPPING = re.compile(r"""["']?[\w.-]{1,128}["']?\s{0,2}:(?:\s|$)""")


class Blocks:
    """Remembers the name whose value goes on, and hides its lines."""

    def __init__(self) -> None:
        self._name, self._how, self._indent, self._left = "", "", 0, 0

    @property
    def open(self) -> bool:
        """Whether a value may go on in the next line."""
        return self._left > 0

    def hide(self, line: str, shown: str) -> str:
        """Returns `shown`, the line as its own forms leave it, without what it holds of a value from above."""
        if self._left and line.strip():
            self._left -= 1
            if self._how == "pgpass":
                return shown
            if self._how == "here":
                return self._in_here_document(line, shown)
            if self._how == "name":
                return self._value_of_name(shown)
            hidden = self._goes_on(line, shown)
            if hidden is not None:
                return hidden
            self._left = 0
        if not self._left:
            self._begin(line)
        return shown

    def _begin(self, line: str) -> None:
        if "pgpass" in line:
            self._name, self._how, self._left = "", "pgpass", 6
        here = _HERE.search(line) if "<<" in line else None
        if here is not None and asks_for_a_secret(line):
            self._name, self._how, self._left = here["end"], "here", 6
            return
        if len(line) > 400 or (
            line.rstrip()[-1:] not in (":", "|", ">", "(", "[", "{", "=", '"', "'", "\\", "-", "+", ",")
            and not _NAMES.match(line)
        ):
            return
        named = _NAMES.match(line)
        if named is not None and strength(named["name"]) != NONE:
            self._name, self._how, self._left = named["name"], "name", 3
            return
        opens = _OPENS.match(line)
        if opens is not None and strength(opens["name"]) != NONE:
            self._name, self._how = opens["name"], (opens["how"] or "").lstrip("rbfu")
            self._indent, self._left = len(opens["indent"]), _MOST_LINES

    def _in_here_document(self, line: str, shown: str) -> str:
        if line.strip() == self._name:
            self._left = 0
        return shown if line.strip() == self._name or is_nothing(line.strip()) else HIDDEN

    def _value_of_name(self, shown: str) -> str:
        value = _VALUE.match(_core(shown))
        if value is None:
            return shown
        self._left = 0
        return _in_place(value, shown) if is_secret_value(self._name, value["value"]) else shown

    def _goes_on(self, line: str, shown: str) -> str | None:
        """Returns the line without its part of the value, None where it is no part."""
        if self._how[:1] in ("(", "[", "{"):
            return self._in_bracket(line, shown)
        if self._how[:1] in ('"', "'"):
            return self._in_long_literal(shown)
        indent = len(line) - len(line.lstrip())
        item = _ITEM.match(_core(shown))
        listed = line.lstrip().startswith("- ")
        if (
            item is None
            or indent < self._indent
            or (indent == self._indent and not listed)
            or (not line[:1].isspace() and not listed)
        ):
            return None
        value = item["value"]
        if not self._how and _MAPPING.match(value):
            self._begin(line)  # names of its own, one of which may go on below
            return shown
        if self._how == "\\":
            self._left = 0
        sure = strength(self._name) == SURE and self._how[:1] in ("|", ">")
        if (sure and not is_nothing(value)) or is_secret_value(self._name, value, quoted=sure or value[0] in "\"'"):
            return _in_place(item, shown)
        return shown

    def _in_bracket(self, line: str, shown: str) -> str | None:
        if line.lstrip()[:1] in (")", "]", "}"):
            return None
        literals, _ = group(f"({shown}", 0)
        for begin, end in reversed(literals):
            value = shown[begin - 1 : end - 1]
            sure = strength(self._name) == SURE or (
                len(literals) == 1 and line.strip()[:1] in ("'", '"') and self._how == "("
            )
            if is_secret_value(self._name, value) if sure else is_generated(value) or like_password(value):
                shown = f"{shown[: begin - 1]}{HIDDEN}{shown[end - 1 :]}"
        return shown

    def _in_long_literal(self, shown: str) -> str:
        before, end, after = shown.partition(self._how[:3])
        if end:
            self._left = 0
        hides = before.strip() and is_secret_value(self._name, before)
        return f"{HIDDEN if hides else before}{end}{after}"


def _core(line: str) -> str:
    """Returns a line without what may stand behind its value."""
    return line.rstrip().rstrip(",")


def _in_place(match: re.Match[str], line: str) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" and value[-1] == value[0] and len(value) > 1 else ""
    return "".join((match["keep"], quote, HIDDEN, quote, line[match.end() :]))
