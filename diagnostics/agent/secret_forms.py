"""Takes the secrets out of one line: what stands under the name of one, and what tells itself by its form.

The names and the values of one line are looked at from left to right: NAME = VALUE in Python, shell, YAML, INI and JSON,
--name VALUE, ("NAME", "VALUE"), <name>VALUE<, "password for bob is VALUE" and login("bob", "VALUE"). Everything takes a
time that grows with the line's length, not with its square.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from .hiding import HIDDEN
from .secret_literals import bare, group, joined, quoted, whole
from .secret_names import KEYED, NONE, PIN, SURE, WEAK, pieces, strength
from .secret_programs import without_programs
from .secret_shapes import without_known, without_shapes
from .secret_values import (
    is_generated,
    is_mixed,
    is_name,
    is_nothing,
    is_path,
    is_said,
    is_secret_value,
    is_sentence,
    is_word,
    like_password,
)

_WORD = re.compile(r"(?<![A-Za-z0-9_.-])-{0,2}[A-Za-z_][A-Za-z0-9_.-]*|(?<=[^\s-])--[A-Za-z][\w-]*")
_LONGEST = 160  # characters of a name, of which the last ones count
_GLUED_OPTION = re.compile(  # to what another rank has just written
    r"(?<=[A-Za-z0-9=+/!])(?P<name>--[A-Za-z][\w-]{0,64})(?P<gap>[ \t]{1,4})(?P<value>[^\s'\"-][^\s'\"]{0,512})"
)
_TYPE = r":\s{0,2}[A-Za-z_][\w.]{0,40}(?:\[[\w., \[\]|]{0,60}\])?(?:\s?\|\s?\w{1,40}){0,3}\s{0,2}=(?!=)"
_ASSIGN = re.compile(
    rf"\\{{0,3}}[\"']?\]?\s{{0,4}}(?:{_TYPE}|:=|=>|->|===?|!=|:[-+?]?=|:-|[=:])\s{{0,4}}(?:&\w{{1,40}}\s|![\w.!/-]{{0,40}}\s){{0,2}}"
)
_PAIR = re.compile(r"""(?P<quote>\\{0,3}["'])\s{0,4},\s{0,4}(?=[rbfuRBFU]{0,2}\\{0,3}["'])""")
_GAP = re.compile(r"[ \t\x1f]{1,8}(?![-|&;<>)])")
_TAG = re.compile(r">(?=[^<>\n]{1,512}</)")
_SAYS = re.compile(
    r"(?:\s(?:code|number|value))?(?:\s{1,2}(?:for|of)\s{1,2}(?:user\s|the\s|account\s){0,2}[^\s:,;]{1,80})?"
    r"(?P<verb>\s{1,2}(?:is|was|are|now|becomes|set to|changed to|reset to)(?::|\snow)?|\s{0,2}(?::|->|=>|=|/))?(?:\sto)?\s{1,3}"
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
_FIRST = re.compile(r"\s{0,80}(?:-\s)?[\"']?[\w.-]{1,128}[\"']?\s?:$")
_NETRC = re.compile(r"\b(?:machine|login|user(?:name)?)\s")
_SETTING = re.compile(r"\b(?:setenv|set(?:\s-\w{1,4}){0,2}|export|configure set)\s{1,2}$")
_ITEM = re.compile(r"[^\s,()\[\]{}'\"]{1,512}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_.]{0,128}$")
_TYPE_ENDS = re.compile(r"\s{0,2}(?:[,)|\[]|=\s|->)|\s[A-Za-z]")  # or a sentence goes on
_QUOTE = re.compile(r"[\"']")
_NAMED_VALUE = re.compile(
    r"""(?:\bname|\bkey|\bid)["']?\s{0,2}[:=]\s{0,2}["']?(?P<name>[A-Za-z_][\w.-]{1,80})["']?[ ,;]{1,3}["']?value["']?\s{0,2}[:=]\s{0,2}["']?(?P<value>[^\s"'<>]{1,512})"""
)

_ESCAPES = {"\\" * n + letter: chr(0x2000 + 3 * n + i - 3) for n in (1, 2, 3) for i, letter in enumerate("nrt")}
_ESCAPED = re.compile(r"(?<!\\)\\{1,3}[nrt]")
_SPACES = re.compile("[\u2000-\u2008]")


def without_secrets(line, *, quoted_only=False):
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
    line = without_known(_Scan(line, quoted_only).shown())
    return _SPACES.sub(lambda match: escapes[match[0]], line) if escapes else line


def _glued(match):
    hide = not is_said(match["value"]) and is_secret_value(match["name"], match["value"])
    return "".join((match["name"], match["gap"], HIDDEN)) if hide else match[0]


def _named_value(match):
    hide = is_secret_value(match["name"], match["value"].strip("\"'"))
    return match[0][: match.start("value") - match.start()] + HIDDEN if hide else match[0]


class _Scan:
    """Goes through one line, word by word."""

    def __init__(self, line, quoted_only):
        self._line, self._quoted_only = line, quoted_only
        self._spans = []  # (start, end) to hide, in order
        self._quotes = None
        self._reach = 16 * len(line) + 1024  # characters of brackets that are looked into, those of inner ones again

    def shown(self):
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

    def _hidden(self):
        parts, at = [], 0
        for start, end in self._spans:
            if start >= at:
                parts += (self._line[at:start], HIDDEN)
                at = end
        return "".join((*parts, self._line[at:])) if parts else self._line

    def _hide(self, start, end):
        if end > start:
            self._spans.append((start, end))
        return end

    def _after(self, word, says, near):
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

    def _assigned(self, name, says, near, at, *, several=False):
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

    def _is_reference(self, at):
        return self._line.startswith(("{{", "${"), at)

    def _bare(self, name, says, near, at):
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
        while line[end : end + 1] in ("'", '"') and not self._in_literal(at) and (more := quoted(line, end)) and more[2] < len(line):
            end = more[2]  # a shell joins abc'def'
            end = max(end, bare(line, end))
        if says == SURE and len(line) < 400 and line[at - 1] == " " and _FIRST.match(line, 0, at - 1):
            rest = line[at:].partition(" #")[0].rstrip()  # of a file's line: all words of the value
            end = max(end, at + len(rest)) if rest.count(" ") < 7 and not is_sentence(rest) else end
        return self._hide(at, whole(line, at, end))

    def _is_code(self, says, at, end):
        """Whether the value is a name in code: `token = group`, `key: StorageKey)`; a token has digits or stands close."""
        line = self._line
        if says == KEYED and _IDENTIFIER.match(line, at, end):
            named = line[max(0, at - 3) : at] in (" = ", "== ", "!= ") or "." in line[at:end]
            return named or (line[at - 2 : at] == ": " and bool(_TYPE_ENDS.match(line, end)))
        return False

    def _paired(self, word, says, near, at):
        """Hides the second of ("NAME", "VALUE"), ["--name", "VALUE"] and setattr(x, "name", "VALUE")."""
        line, name = self._line, word[0][-_LONGEST:]
        begin, end, after = quoted(line, at)
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

    def _option(self, name, says, near, end):
        line = self._line
        gap = _GAP.match(line, end)
        if gap is None:
            return end
        found = quoted(line, gap.end())
        if found is not None:
            hide = is_secret_value(name, line[found[0] : found[1]], before=near)
            return max(self._hide(found[0], found[1]), found[2]) if hide else end
        stop = _OPTION_ENDS.search(line, gap.end())
        stop = stop.start() if stop else len(line)
        value = line[gap.end() : stop]
        if value[:1] in ("-", "") or (self._quoted_only and not self._in_literal(gap.end())):
            return end
        shows = is_nothing(value) or is_said(value) or _METAVAR.match(value)  # --token TOKEN]
        hide = not shows and is_secret_value(name, value, before=near)
        return self._hide(gap.end(), stop) if hide else end

    def _said(self, word, says, near):
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

    def _is_said(self, name, says, near, value, *, verb, literal, begin, at):
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

    def _is_alone(self, begin, at):
        """Whether a name and one word behind it are the whole line, as in a .netrc."""
        return len(self._line) < 400 and not self._line[:begin].strip() and " " not in self._line[at:].rstrip()

    def _in_group(self, name, says, at, *, last=False):
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

    def _in_literal(self, at):
        """Whether this place of a line of Python stands in a literal that began on this line."""
        if self._quotes is None:
            self._quotes = [(begin, end) for begin, end, _ in _literals_of(self._line)]
        index = bisect_right(self._quotes, (at, len(self._line) + 1)) - 1
        return index >= 0 and at <= self._quotes[index][1]


def _calls_in(name):
    words = pieces(name.rpartition(".")[2])
    return bool(words) and (words[-1] in _CALLED or words[-1].endswith(_CALLED_ENDS))


def is_secret_variable(name, value):
    """Whether a variable, a field or an attribute of this name and value is a secret."""
    if is_secret_value(name, value):
        return True
    found = [value[begin:end] for begin, end, _ in _literals_of(value)] if value[:1] not in ("'", '"') else []
    return any(is_secret_value(name, one) for one in found)


def _literals_of(value):
    at = 0
    while (start := _QUOTE.search(value, at)) is not None:
        found = quoted(value, start.start())
        yield found
        at = found[2]


def is_secret(name, value):
    """Whether `value`, standing under `name`, has to be hidden."""
    return is_secret_value(name, value)
