"""Takes secrets out of texts, line by line: the same forms for what the agent writes and for what is reported."""

from __future__ import annotations

from .hiding import HIDDEN, TRIGGERS
from .secret_forms import (
    PEM_BEGINS,
    PEM_BODY,
    PEM_ENDS,
    PEM_LINE,
    PEM_LONG,
    is_secret,
    is_secret_variable,
    without_secrets,
)

__all__ = ["Lines", "hidden", "hidden_words", "is_secret_variable"]

TYPE_CHECKING = False  # as of typing, which a job need not import
if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 1 << 16  # characters looked through at once for anything that may be a secret
_LONGEST_KEY = 400  # lines
_MOST_FOREIGN = 20  # lines between those of a key


def hidden(value: str) -> str:
    """Returns `value` without passwords in URLs, `--token x`, `PASSWORD=x`, headers, keys and known forms of tokens."""
    return Lines().hide(value)


def hidden_words(words: Sequence[str]) -> list[str]:
    """Returns a command line without secrets, a list of as many words: also `--token` and its value in two words."""
    shown: list[str] = []
    before = ""
    for word in words:
        option = before.startswith("-") and "=" not in before and not word.startswith("-")
        hide = option and (is_secret(before.lstrip("-"), word) or _hides_after(shown, before, word))
        shown.append(HIDDEN if hide else hidden(word))
        before = word
    return shown


def _hides_after(shown: Sequence[str], option: str, word: str) -> bool:
    """Whether a program's short option takes a password: seen as one line, the value disappears."""
    program = shown[0].rpartition("/")[2] if shown else ""
    seen = hidden("%s %s %s %s" % (program, " ".join(shown[1:-1]), option, word)) if " " not in word else ""
    return len(option) == 2 and seen.endswith(HIDDEN) and not hidden(word).endswith(HIDDEN)


class Lines:
    """Hides line by line; the only thing it remembers is that a private key has begun."""

    def __init__(self, *, quoted_only: bool = False) -> None:
        self._quoted_only = quoted_only
        self._key_lines = 0  # left of a private key that has begun

    def hide(self, value: str) -> str:
        """Returns `value` with the same number of lines."""
        lower = value.lower()
        if not self._key_lines and not any(trigger in lower for trigger in TRIGGERS):
            return value
        lines = value.split("\n")
        start = 0
        while start < len(lines):
            end, size = start, 0
            while end < len(lines) and size <= _BLOCK:
                size += len(lines[end]) + 1
                end += 1
            self._hide_block(lines, start, end)
            start = end
        return "\n".join(lines)

    def _hide_block(self, lines: list[str], start: int, end: int) -> None:
        whole = "\n".join(lines[start:end]).lower()
        present = tuple(trigger for trigger in TRIGGERS if trigger in whole)
        if not present and not self._key_lines:
            return
        for at in range(start, end):
            lower = lines[at].lower()
            if self._key_lines or any(trigger in lower for trigger in present):
                lines[at] = self._hide_line(lines[at])

    def _hide_line(self, value: str) -> str:
        if self._key_lines:
            return self._hide_key_line(value)
        begin = PEM_BEGINS.search(value)
        if begin is None:
            return without_secrets(value, quoted_only=self._quoted_only)
        before, after = value[: begin.end()], value[begin.end() :]
        shown = without_secrets(before, quoted_only=self._quoted_only)
        if (end := PEM_ENDS.search(after)) is not None:
            return shown + PEM_BODY.sub(HIDDEN, after[: end.start()]) + end[0] + self._hide_line(after[end.end() :])
        if PEM_LINE.match(after):
            self._key_lines = _LONGEST_KEY
        return shown + PEM_BODY.sub(HIDDEN, after)

    def _hide_key_line(self, value: str) -> str:
        self._key_lines -= 1
        if (end := PEM_ENDS.search(value)) is not None:
            self._key_lines = 0
            # What follows on the line is another process's: unbuffered ranks end a line by a write of its own.
            return PEM_BODY.sub(HIDDEN, value[: end.start()]) + end[0] + self._hide_line(value[end.end() :])
        if PEM_LINE.match(value) is None:  # this was no key, or another process writes between its lines
            self._key_lines = max(0, self._key_lines - _LONGEST_KEY // _MOST_FOREIGN)
            return without_secrets(PEM_LONG.sub(HIDDEN, value), quoted_only=self._quoted_only)
        return HIDDEN if value.strip() else value
