"""Bytes, numbers and sentences as people read them."""

from __future__ import annotations

import re
import signal
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

LAST_LINES = 8
NARROWEST = 40  # columns; no text is pressed into fewer
# A command or a quoted path is pasted as it is.
_KEPT_WHOLE = re.compile(r"`[^`\n]{1,1000}`|(?<!\S)'[^'\n]{1,300}'(?![^\s.,;:)])")
_NO_BREAK = "\ue000"  # of Unicode's private use: no text has it
_PROBLEM = re.compile(r"\b(?:\w{0,40}error|fatal|critical)(?:\[\w{1,20}\])?\s?:", re.IGNORECASE)


def format_bytes(count: float) -> str:
    """Returns a size in the binary unit that leaves one to four digits: '1.8 GiB', '64 MiB'."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.3g} {unit}" if count < 100 else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def number(answer: Mapping[str, Any], key: str) -> float | None:
    """Returns a finite number of an answer, None where there is none."""
    value = answer.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < float("inf") else None


def last_lines(text: str, count: int = LAST_LINES) -> str:
    """Returns the last lines that are not empty, which of a Python error hold the message."""
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])


def last_line(text: str) -> str:
    """Returns the last line that is not empty."""
    return last_lines(text, 1).strip()


def problem_line(text: str) -> str:
    """Returns the latest of the last lines that says "error:" or the like, else the last one: hints come behind."""
    lines = last_lines(text).splitlines()
    return next((line.strip() for line in reversed(lines) if _PROBLEM.search(line)), last_line(text))


def sentence_of(stderr: str) -> str:
    """Returns the sentence of a failed child: its last line that is no indented hint, "" if it said nothing."""
    lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1].strip() if lines else last_line(stderr)


def shown_ranks(ranks: Sequence[int]) -> str:
    """Returns 'rank 3', 'ranks 0, 2' or 'ranks 0-7' for people."""
    ranks = sorted(set(ranks))
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if ranks == list(range(ranks[0], ranks[-1] + 1)) and len(ranks) > 2:
        return f"ranks {ranks[0]}-{ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks))}"


def wrapped(text: str, room: int, *, lines: int | None = None, further: str = "") -> list[str]:
    """Returns a text in lines of `room` columns; a word, a `command` and a quoted path stay whole, however long.

    Of more than so many `lines` the rest is left out, and said to be; `further` begins those behind the first.
    """
    glued = _KEPT_WHOLE.sub(lambda found: found[0].replace(" ", _NO_BREAK), " ".join(text.split()))
    broken = textwrap.wrap(
        glued, max(room, NARROWEST // 2), max_lines=lines, placeholder=" ...", subsequent_indent=further,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return [line.replace(_NO_BREAK, " ") for line in broken] or [""]


def fitted(text: str, width: int, *, further: str = "  ") -> list[str]:
    """Returns a text in lines of a terminal, those behind the first a little `further` in; `width` 0 is no terminal."""
    if not width or len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    return [f"{indent}{line}" for line in wrapped(text, max(width, NARROWEST) - len(indent), further=further)]


def hanging(label: str, text: str, width: int, *, lines: int | None = None) -> list[str]:
    """Returns a text behind its label, its further lines below its first; `width` 0 is no terminal: one line."""
    if not width:
        return [f"{label}{text}"]
    first, *rest = wrapped(text, max(width - len(label), NARROWEST), lines=lines)
    return [f"{label}{first}", *(f"{' ' * len(label)}{line}" for line in rest)]


def sentence(words: str) -> str:
    """Returns the words with a capital first letter."""
    return words[:1].upper() + words[1:]


def signal_name(number: int) -> str:
    """Returns "SIGSEGV"; "signal 70" for one without a name."""
    known = {one.value: one.name for one in signal.Signals}
    return known.get(number, f"signal {number}")


def distinct(locations: Sequence[str]) -> tuple[str, ...]:
    """Returns the locations in order, each once, without empty ones."""
    return tuple(dict.fromkeys(filter(None, locations)))
