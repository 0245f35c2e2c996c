"""Goes through one line word by word, and hides what stands under the names of secrets.

NAME = VALUE in Python, shell, YAML, INI and JSON, --name VALUE, ("NAME", "VALUE"), <name>VALUE<, "password is VALUE",
login("bob", "VALUE"). The time grows with the length of the line, not with its square.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from .secret_literals import bare, group, joined, literals_of, quoted, whole
from .secret_names import KEYED, NONE, PIN, SURE, WEAK, is_name, pieces, strength
from .secret_values import (
    is_generated,
    is_mixed,
    is_nothing,
    is_path,
    is_said,
    is_secret_value,
    is_sentence,
    is_word,
    like_password,
)
from .trigger_words import HIDDEN

_WORD = re.compile(r"(?<![A-Za-z0-9_.-])-{0,2}[A-Za-z_][A-Za-z0-9_.-]*|(?<=[^\s-])--[A-Za-z][\w-]*")
_LONGEST = 160  # characters of a name, of which the last ones count
_TYPE = r":\s{0,2}[A-Za-z_][\w.]{0,40}(?:\[[\w., \[\]|]{0,60}\])?(?:\s?\|\s?\w{1,40}){0,3}\s{0,2}=(?!=)"
_ASSIGN = re.compile(
    rf"\\{{0,3}}[\"']?\]?\s{{0,4}}(?:{_TYPE}|:=|=>|->|===?|!=|:[-+?]?=|:-|[=:])\s{{0,4}}"
    rf"(?:&\w{{1,40}}\s|![\w.!/-]{{0,40}}\s){{0,2}}"
)
_PAIR = re.compile(r"""(?P<quote>\\{0,3}["'])\s{0,4},\s{0,4}(?=[rbfuRBFU]{0,2}\\{0,3}["'])""")
_GAP = re.compile(r"[ \t\x1f]{1,8}(?![-|&;<>)])")
_TAG = re.compile(r">(?=[^<>\n]{1,512}</)")
_SAYS = re.compile(
    r"(?:\s(?:code|number|value))?(?:\s{1,2}(?:for|of)\s{1,2}(?:user\s|the\s|account\s){0,2}[^\s:,;]{1,80})?"
    r"(?P<verb>\s{1,2}(?:is|was|are|now|becomes|set to|changed to|reset to)(?::|\snow)?|\s{0,2}"
    r"(?::|->|=>|=|/))?(?:\sto)?\s{1,3}"
)
_CALLED = frozenset(("login", "auth", "authenticate", "credentials", "credential", "fernet", "signin"))
_CALLED_ENDS = ("auth", "login", "credentials", "credential", "authenticator")
_SAID = ("pass", "pw", "pwd", "login")  # a word right behind them
_SETS = re.compile(
    r"(?:setattr|setdefault|setenv|putenv|getenv|get|set|put|default|setitem|header|field)\([^()]{0,80}$"
)
_OPTION_ENDS = re.compile(r"[\s'\"\x1f]|--(?=[A-Za-z][\w-]{0,64})")
_DEFAULT = re.compile(r"\\{0,3}[\"'],[^\n]{0,200}?\bdefault\s{0,2}=\s{0,2}(?=[rbfuRBFU]{0,2}\\{0,3}[\"'])")
_METAVAR = re.compile(r"[A-Z_]{2,30}[\])]")
_COMMA = re.compile(r"\s{0,2},\s{0,2}")
_USER_AND = re.compile(r"([\w.@-]{1,64})\s{0,2}[/:,|]\s{0,2}(?=\S)")
_FIRST = re.compile(r"^\s{0,80}(?:-\s)?[\"']?[\w.-]{1,128}[\"']?\s?:$")
_NETRC = re.compile(r"\b(?:machine|login|user(?:name)?)\s")
_SETTING = re.compile(r"\b(?:setenv|set(?:\s-\w{1,4}){0,2}|export|configure set)\s{1,2}$")
_ITEM = re.compile(r"[^\s,()\[\]{}'\"]{1,512}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_.]{0,128}$")
_TYPE_ENDS = re.compile(r"\s{0,2}(?:[,)|\[]|=\s|->)|\s[A-Za-z]")  # or a sentence goes on


class Scan:
    """Goes through one line, word by word."""

    def __init__(self, line: str, quoted_only: bool) -> None:
        self._line, self._quoted_only = line, quoted_only
        self._spans: list[tuple[int, int]] = []  # (start, end) to hide, in order
        self._quotes: list[tuple[int, int]] | None = None
        self._reach = 16 * len(line) + 1024  # characters of brackets that are looked into, those of inner ones again

    def shown(self) -> str:
        """Returns the line without what stands under names of secrets."""
        line, at, before, ended = self._line, 0, "", 0
        while (word := _WORD.search(line, at)) is not None:
            name, at = word[0][-_LONGEST:], word.end()
            near = before if line[ended : word.start()] in (" ", "-", "_") else ""
            says = strength(name, near)
            if says != NONE:
                at = max(at, self._after(word, says, near))
            elif line[at : at + 1] == "(" and _calls_in(name):
                at = max(at, self._in_group(name, WEAK, at, last=True))
            before, ended = name, word.end()
        return self._hidden()

    def _hidden(self) -> str:
        parts: list[str] = []
        at = 0
        for start, end in self._spans:
            if start >= at:
                parts += (self._line[at:start], HIDDEN)
                at = end
        return "".join((*parts, self._line[at:])) if parts else self._line

    def _hide(self, start: int, end: int) -> int:
        if end > start:
            self._spans.append((start, end))
        return end

    def _after(self, word: re.Match[str], says: int, near: str) -> int:
        """Hides the value of one name; returns where to go on."""
        line, name, end = self._line, word[0][-_LONGEST:], word.end()
        assigned = _ASSIGN.match(line, end)
        if assigned is not None and line[assigned.end() - 1 : assigned.end() + 1] != "::":
            if says == KEYED and assigned[0].strip() in ("==", "!="):  # of a parser's tokens
                says, name = WEAK, "auth"
            several = line[max(0, word.start() - 4) : word.start()].rstrip()[-1:] == "," and assigned[0].strip() == "="
            return self._assigned(name, says, near, assigned.end(), several=several)
        default = _DEFAULT.match(line, end) if name[0] == "-" else None
        if default is not None:
            return self._assigned(name, says, near, default.end())
        pair = _PAIR.match(line, end) if line[word.start() - 1 : word.start()] in ("'", '"') else None
        if pair is not None:
            return self._paired(word, says, near, pair.end())
        tag = _TAG.match(line, end) if line[word.start() - 1 : word.start()] == "<" else None
        if tag is not None:
            close = line.find("</", tag.end())
            inner = line[tag.end() : close]
            return self._hide(tag.end(), close) if is_secret_value(name, inner, before=near) else end
        if name[0] == "-":
            return self._option(name, says, near, end)
        if line[end : end + 1] == "(":
            return self._in_group(name, WEAK, end, last=_calls_in(name) and says != KEYED)
        return self._said(word, says, near)

    def _assigned(self, name: str, says: int, near: str, at: int, *, several: bool = False) -> int:
        line = self._line
        if line[at : at + 1] in ("(", "[", "{") and not self._is_reference(at):
            return self._in_group(name, says, at, last="auth" in name.lower())
        end = at
        for begin, stop, after in joined(line, at):
            if is_secret_value(name, line[begin:stop], before=near):
                end = self._hide(begin, stop)
            end = max(end, after)
        if end > at:
            while several and (comma := _COMMA.match(line, end)) and (more := quoted(line, comma.end())):
                end = max(self._hide(more[0], more[1]), more[2])
            return end
        return self._bare(name, says, near, at)

    def _is_reference(self, at: int) -> bool:
        return self._line.startswith(("{{", "${"), at)

    def _bare(self, name: str, says: int, near: str, at: int) -> int:
        line = self._line
        end = bare(line, at)
        value, rest = line[at:end], line[end : end + 200]
        if end == at:
            return at
        if self._quoted_only and not self._in_literal(at) and not (value.isdigit() and len(value) >= 4):
            called = line.find("(", at, end)
            return self._in_group(name, WEAK, called) if called > 0 else at
        if self._is_code(says, at, end) or not is_secret_value(name, value, quoted=False, rest=rest, before=near):
            called = line.find("(", at, end)
            return self._in_group(name, WEAK, called) if called > 0 and says >= KEYED else at
        holder = _USER_AND.match(line, at) if says == SURE and "cred" in name.lower() else None
        if holder is not None and not is_word(holder[1]):
            end = bare(line, holder.end())
        while line[end : end + 1] in ("'", '"') and not self._in_literal(at):
            more = quoted(line, end)
            if more is None or more[2] == len(line):
                break
            end = more[2]  # a shell joins abc'def'
            end = max(end, bare(line, end))
        if says == SURE and len(line) < 400 and line[at - 1] == " " and _FIRST.match(line, 0, at - 1):
            rest = line[at:].partition(" #")[0].rstrip()  # of a file's line: all words of the value
            end = max(end, at + len(rest)) if rest.count(" ") < 7 and not is_sentence(rest) else end
        return self._hide(at, whole(line, at, end))

    def _is_code(self, says: int, at: int, end: int) -> bool:
        """Whether the value is a name in code: `token = group`, `key: StorageKey)`."""
        line = self._line
        if says == KEYED and _IDENTIFIER.match(line, at, end):
            named = line[max(0, at - 3) : at] in (" = ", "== ", "!= ") or "." in line[at:end]
            return named or (line[at - 2 : at] == ": " and bool(_TYPE_ENDS.match(line, end)))
        return False

    def _paired(self, word: re.Match[str], says: int, near: str, at: int) -> int:
        """Hides the second of ("NAME", "VALUE"), ["--name", "VALUE"] and setattr(x, "name", "VALUE")."""
        line, name = self._line, word[0][-_LONGEST:]
        found = quoted(line, at)
        if found is None:
            return word.end()
        begin, end, after = found
        value = line[begin:end]
        sets = name[0] == "-" or _SETS.search(line[max(0, word.start() - 120) : word.start() - 1].rstrip("\\"))
        alone = line[word.start() - 2 : word.start() - 1] == "(" and line[after : after + 1] == ")" and says == SURE
        if value.startswith("-"):
            return word.end()
        hide = (sets or alone) and is_secret_value(name, value, before=near)
        if hide or (says >= WEAK and (is_generated(value) or like_password(value))):
            self._hide(begin, end)
            return after
        return word.end()

    def _option(self, name: str, says: int, near: str, end: int) -> int:
        line = self._line
        gap = _GAP.match(line, end)
        if gap is None:
            return end
        found = quoted(line, gap.end())
        if found is not None:
            hide = is_secret_value(name, line[found[0] : found[1]], before=near)
            return max(self._hide(found[0], found[1]), found[2]) if hide else end
        ends = _OPTION_ENDS.search(line, gap.end())
        stop = ends.start() if ends else len(line)
        value = line[gap.end() : stop]
        if value[:1] in ("-", "") or (self._quoted_only and not self._in_literal(gap.end())):
            return end
        shows = is_nothing(value) or is_said(value) or _METAVAR.match(value)  # --token TOKEN]
        hide = not shows and is_secret_value(name, value, before=near)
        return self._hide(gap.end(), stop) if hide else end

    def _said(self, word: re.Match[str], says: int, near: str) -> int:
        """Hides VALUE of "password is VALUE", "password for bob: VALUE", "API key VALUE", `password VALUE`."""
        line, name = self._line, word[0][-_LONGEST:]
        says_so = _SAYS.match(line, word.end())
        if says_so is None:
            return word.end()
        at, verb = says_so.end(), bool(says_so["verb"])
        found = quoted(line, at)
        begin, end = (found[0], found[1]) if found else (at, bare(line, at))
        value = line[begin:end].rstrip(".")
        if not value or (found is not None and found[2] == len(line) and line[-1:] not in ("'", '"')):
            return word.end()
        if self._quoted_only and not self._in_literal(at):
            return word.end()
        if not self._is_said(name, says, near, value, verb=verb, literal=found is not None, begin=word.start(), at=at):
            return word.end()
        return self._hide(begin, end)

    def _is_said(
        self, name: str, says: int, near: str, value: str, *, verb: bool, literal: bool, begin: int, at: int
    ) -> bool:
        if is_nothing(value) or is_path(value) or is_name(value) or "://" in value:
            return False
        if says == PIN:
            return verb and value.isdigit() and is_secret_value(name, value)
        password = "pass" in name.lower() and says == SURE
        before = self._line[max(0, begin - 40) : begin]
        if is_generated(value) or like_password(value.rpartition(":")[2]):
            if name.lower() == "key" and says == WEAK:  # a cache's is a hash, a server's has capitals
                return is_generated(value) and len(value) >= 32 and value != value.lower()
            return says >= KEYED or verb or name.lower() in _SAID
        if not password:
            return says == SURE and literal and is_mixed(value)
        if (
            verb
            or literal
            or self._is_alone(begin, at)
            or _NETRC.search(self._line, max(0, at - 300), at)
            or _SETTING.search(before)
        ):
            return not is_word(value) and " " not in value and is_secret_value(name, value, quoted=literal, before=near)
        return is_mixed(value)

    def _is_alone(self, begin: int, at: int) -> bool:
        """Whether a name and one word behind it are the whole line, as in a .netrc."""
        return len(self._line) < 400 and not self._line[:begin].strip() and " " not in self._line[at:].rstrip()

    def _in_group(self, name: str, says: int, at: int, *, last: bool = False) -> int:
        """Hides the literals in the bracket that opens here, all of them under a sure name; `last`: the last of two."""
        line = self._line
        literals, after = group(line, at, min(8192, self._reach))
        self._reach -= after - at
        hidden = len(self._spans)
        for index, (begin, end) in enumerate(literals):
            value = line[begin:end]
            # Of ("bob", "VALUE"), given to what logs in, the second is the password.
            second = last and index == 1 and len(literals) == 2 and not is_word(value)
            if says == SURE or second:
                hide = not is_nothing(value) and is_secret_value("password", value)
            else:
                hide = is_generated(value) or like_password(value.rpartition(":")[2])
            if hide and not is_path(value):
                self._hide(begin, end)
        if says == SURE and not literals and not self._quoted_only:
            for item in _ITEM.finditer(line, at + 1, after):
                if is_generated(item[0]) or like_password(item[0].rpartition(":")[2]):
                    self._hide(*item.span())
        return after if len(self._spans) > hidden else at + 1

    def _in_literal(self, at: int) -> bool:
        """Whether this place of a line of Python stands in a literal that began on this line."""
        if self._quotes is None:
            self._quotes = [(begin, end) for begin, end, _ in literals_of(self._line)]
        index = bisect_right(self._quotes, (at, len(self._line) + 1)) - 1
        return index >= 0 and at <= self._quotes[index][1]


def _calls_in(name: str) -> bool:
    words = pieces(name.rpartition(".")[2])
    return bool(words) and (words[-1] in _CALLED or words[-1].endswith(_CALLED_ENDS))
