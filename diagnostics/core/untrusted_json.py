"""JSON from elsewhere: numbers beyond all reason are null, and what is nested too deeply is none. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST_NUMBER = 1 << 63  # a larger one is no time, size or process
MOST_DIGITS = 4000  # Python refuses to read more of a whole number


def loads(text: str | bytes) -> Any:
    """Returns the value; ValueError where it is no JSON."""
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_float, parse_int=_int)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _float(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _int(text: str) -> int | None:
    value = int(text) if len(text) < MOST_DIGITS else LARGEST_NUMBER
    return value if abs(value) < LARGEST_NUMBER else None
