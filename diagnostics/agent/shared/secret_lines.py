"""Takes secrets out of texts, line by line: the same forms for what the agent writes and for what is reported."""

from __future__ import annotations

from .secret_blocks import Blocks
from .secret_patterns import is_secret, is_secret_variable, without_secrets
from .secret_shapes import PEM_BEGINS, PEM_BODY, PEM_ENDS, PEM_LINE, PEM_LONG
from .trigger_words import HIDDEN, TRIGGERS

__all__ = ["Lines", "hidden", "hidden_words", "is_secret_variable"]

TYPE_CHECKING = False  # as of typing, which a job need not import
if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 1 << 16  # characters looked through at once for anything that may be a secret
_LONGEST_KEY = 400  # lines
_MOST_FOREIGN = 20  # lines between those of a key
JOINT = "\x1f"  # joins the words of a command line; to the forms it is a space
_ASIDE = "\x1e"


def hidden(value: str) -> str:
    """Returns `value` without passwords in URLs, `--token x`, `PASSWORD=x`, headers, keys and known forms of tokens."""
    return Lines().hide(value)


def hidden_words(words: Sequence[str]) -> list[str]:
    """Returns a command line without secrets, a list of as many words: also `--token` and its value in two words."""
    shown = [hidden(word) for word in words]
    # As one line: a program says what its options mean, and an option what the next word is. Words that are lines of
    # their own (`bash -c "..."`) stand aside, except where an option asks for one.
    seen = []
    for at, word in enumerate(shown):
        asked = at > 0 and _is_asked(words[at - 1], words[at])
        seen.append(HIDDEN if asked else _ASIDE if _is_text(word) else word)
    line = JOINT.join(seen)
    joined = without_secrets(line).split(JOINT)
    if len(joined) != len(shown):
        return shown
    return [shown[at] if word == _ASIDE else word for at, word in enumerate(joined)]


def _is_asked(option: str, word: str) -> bool:
    return option[:1] == "-" and "=" not in option and word[:1] != "-" and is_secret(option, word)


def _is_text(word: str) -> bool:
    return not word or any(char.isspace() or char in "\"'" for char in word)


class Lines:
    """Hides line by line; it remembers a private key, or the value of a name, that has begun."""

    def __init__(self, *, quoted_only: bool = False) -> None:
        self._quoted_only = quoted_only
        self._key_lines = 0  # left of a private key that has begun
        self._blocks = Blocks()

    def hide(self, value: str) -> str:
        """Returns `value` with the same number of lines."""
        lower = value.lower()
        if not self._goes_on and not any(trigger in lower for trigger in TRIGGERS):
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

    @property
    def _goes_on(self) -> bool:
        return self._key_lines > 0 or self._blocks.open

    def _hide_block(self, lines: list[str], start: int, end: int) -> None:
        whole = "\n".join(lines[start:end]).lower()
        present = tuple(trigger for trigger in TRIGGERS if trigger in whole)
        if not present and not self._goes_on:
            return
        for at in range(start, end):
            lower = lines[at].lower()
            if self._goes_on or any(trigger in lower for trigger in present):
                lines[at] = self._hide_line(lines[at])

    def _hide_line(self, value: str) -> str:
        if self._key_lines:
            return self._hide_key_line(value)
        begin = PEM_BEGINS.search(value)
        if begin is None:
            return self._hide_text(value)
        before, after = value[: begin.end()], value[begin.end() :]
        shown = self._hide_text(before)
        if (end := PEM_ENDS.search(after)) is not None:
            return shown + PEM_BODY.sub(HIDDEN, after[: end.start()]) + end[0] + self._hide_line(after[end.end() :])
        if PEM_LINE.match(after):
            self._key_lines = _LONGEST_KEY
        return shown + PEM_BODY.sub(HIDDEN, after)

    def _hide_text(self, value: str) -> str:
        return self._blocks.hide(value, without_secrets(value, quoted_only=self._quoted_only))

    def _hide_key_line(self, value: str) -> str:
        self._key_lines -= 1
        if (end := PEM_ENDS.search(value)) is not None:
            self._key_lines = 0
            # What follows on the line is another process's: unbuffered ranks end a line by a write of its own.
            return PEM_BODY.sub(HIDDEN, value[: end.start()]) + end[0] + self._hide_line(value[end.end() :])
        if PEM_LINE.match(value) is None:  # this was no key, or another process writes between its lines
            self._key_lines = max(0, self._key_lines - _LONGEST_KEY // _MOST_FOREIGN)
            return self._hide_text(PEM_LONG.sub(HIDDEN, value))
        return HIDDEN if value.strip() else value
