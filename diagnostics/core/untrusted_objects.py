"""Plain JSON values to frozen dataclasses, by their type hints; what a child wrote is not trusted to have its form."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Wanted = TypeVar("Wanted")
_known_hints: dict[Any, dict[str, Any]] = {}  # get_type_hints takes 50 us, a large model has 10,000 rows


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
