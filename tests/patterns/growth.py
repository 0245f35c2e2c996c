"""How the time of a search grows with the text: about linear is right, everything else is a hang that waits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

SHORT, LONG = 5_000, 20_000  # characters
MOST_GROWTH = 8.0  # from SHORT to LONG; linear is 4, quadratic 16
TOO_SHORT_S = 0.004  # for LONG: too little to tell growth from noise, and too little to hurt
MOST_S = 0.25  # for LONG, however it grows
# A first look with little text, so that what grows exponentially ends: (characters, seconds that look suspicious).
FIRST_LOOKS = ((16, 0.0004), (24, 0.002), (200, 0.003))
GLANCE, GLANCE_S = 1_000, 0.00003  # below that, even quadratic growth takes 12 ms for LONG
SURELY_LINEAR = 5.5  # from GLANCE to four times that


def verdict(work: Callable[[Any], object], text: Callable[[int], Any]) -> str:
    """Returns "" where `work(text(n))` grows about linearly, else what was measured."""
    for length, most_s in FIRST_LOOKS:
        if _least_s(work, text(length), most_s) > most_s:
            return f"{_least_s(work, text(length), 0) * 1e3:.1f} ms for {length} characters"
    glance_s = _timed(work, text(GLANCE))
    if glance_s <= GLANCE_S:
        return ""
    if glance_s > 0.1 and (glance_s := _least_s(work, text(GLANCE), 0.1)) > 0.1:
        return f"{glance_s * 1e3:.1f} ms for {GLANCE} characters"
    if _timed(work, text(4 * GLANCE)) < min(SURELY_LINEAR * glance_s, MOST_S * 4 * GLANCE / LONG / 2):
        return ""
    short_s = long_s = float("inf")
    for _ in range(4):  # whoever else is at work makes it longer, never shorter
        short_s = min(short_s, _timed(work, text(SHORT)))
        long_s = min(long_s, _timed(work, text(LONG)))
        if long_s > 4 * MOST_S:
            break
        if long_s <= TOO_SHORT_S or (long_s <= MOST_S and long_s / short_s <= MOST_GROWTH):
            return ""
    return f"{short_s * 1e3:.1f} ms for {SHORT} characters, {long_s * 1e3:.1f} ms for {LONG}"


def searched(pattern: re.Pattern[Any], *, anchored: bool) -> Callable[[str], object]:
    """Returns a function that goes over a whole text as code with this pattern does."""
    is_bytes = isinstance(pattern.pattern, bytes)

    def search(text: str) -> object:
        given: Any = text.encode("utf-8", "replace") if is_bytes else text
        if anchored:
            return pattern.match(given)
        return sum(1 for _ in pattern.finditer(given))  # as `findall`, and as `search` where nothing matches

    return search


def _least_s(work: Callable[[Any], object], text: Any, enough_s: float) -> float:
    """Returns the least time of several; ends early at one of at most `enough_s`."""
    least = float("inf")
    for _ in range(3):
        least = min(least, _timed(work, text))
        if least <= enough_s:
            break
    return least


def _timed(work: Callable[[Any], object], text: Any) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began
