"""Bytes as people read them."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any

LAST_LINES = 8
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
