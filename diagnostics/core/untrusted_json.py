"""JSON from elsewhere: numbers beyond all reason are null, and what is nested too deeply is none. Pure.

Plain JSON values to frozen dataclasses, by their type hints; what a child wrote is not trusted to have its form.

Files of one JSON object a line, as a process that may die writes them.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Wanted = TypeVar("Wanted")
_known_hints: dict[Any, dict[str, Any]] = {}  # get_type_hints takes 50 us, a large model has 10,000 rows

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


def read_object(kind: type[Wanted], value: Any) -> Wanted:
    """Returns `value` as that dataclass; unknown keys are ignored. Raises ValueError naming what does not fit."""
    if not isinstance(value, Mapping):
        raise ValueError(f"one {kind.__name__} was expected, got {type(value).__name__}")
    hints = _hints(kind)
    names = {one.name for one in fields(kind)} & value.keys()  # type: ignore[arg-type]  # kind is a dataclass
    try:
        return kind(**{name: _converted(hints[name], value[name], name) for name in names})
    except TypeError as error:  # a field without a default is missing
        raise ValueError(str(error)) from error


def _hints(kind: Any) -> dict[str, Any]:
    if kind not in _known_hints:
        _known_hints[kind] = get_type_hints(kind)
    return _known_hints[kind]


def _converted(hint: Any, value: Any, name: str) -> Any:
    arms = get_args(hint)
    if get_origin(hint) is types.UnionType:
        return None if value is None else _converted(arms[0], value, name)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_converted(arms[0], item, name) for item in value)
    if is_dataclass(hint) and isinstance(hint, type):
        return read_object(hint, value)
    if hint in (int, str, bool) and type(value) is hint:
        return value
    raise ValueError(f"'{name}' is {value!r}")


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    """Returns the objects up to the first line that was cut off, [] where there is no such file."""
    found: list[dict[str, Any]] = []
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return found
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            break
        if isinstance(value, dict):
            found.append(value)
    return found
