"""Strict, typed YAML: a file becomes frozen dataclasses, or one sentence says which line is wrong.

`include:` merges other files first, `--set a.b=c` overrides last; each value remembers the line it
came from, so that a wrong type or a mistyped key names its file, its line and the nearest name.

Ranges that a configuration's numbers keep to, written where the field is: `Annotated[int, Range(least=1)]`.
"""

from __future__ import annotations

import difflib
import math
import os
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import yaml

from diagnostics.core.errors import UsageError, from_os_error

__all__ = ["Located", "Range", "build", "load"]

MOST_BYTES, MOST_VALUES = 1 << 20, 20_000  # of a configuration: its text, and its values with all aliases

Config = TypeVar("Config")


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a YAML file together with the place it came from, `file:line`."""

    value: Any  # dict[str, Located] | list[Located] | scalar
    place: str


def load(path: Path, schema: type[Config], overrides: Sequence[str] = ()) -> Config:
    """Returns the configuration in `path` as an instance of the dataclass `schema`.

    `overrides` are `a.b=value` strings whose values are YAML. Raises UsageError with file and line
    for everything that does not fit.
    """
    tree = _read(path, ())
    for override in overrides:
        tree = _override(tree, override)
    return build(schema, tree)


def build(schema: type[Config], tree: Located, key: str = "") -> Config:
    """Returns `schema` filled from a located mapping; unknown and missing keys are refused."""
    if not isinstance(tree.value, dict):
        raise UsageError(f"{tree.place}: {key or 'the file'} must be a mapping of keys, got {_shown(tree.value)}")
    hints = get_type_hints(schema, include_extras=True)
    known = {item.name: item for item in fields(schema)}  # type: ignore[arg-type]
    arguments: dict[str, Any] = {}
    for name, item in tree.value.items():
        if name not in known:
            raise UsageError(_unknown_key(f"{key}.{name}" if key else name, name, item.place, list(known)))
        arguments[name] = _convert(hints[name], item, f"{key}.{name}" if key else name)
    for name, item in known.items():
        required = item.default is MISSING and item.default_factory is MISSING
        if required and name not in arguments:
            raise UsageError(f"{tree.place}: key '{f'{key}.' if key else ''}{name}' is missing")
    try:
        return schema(**arguments)
    except ValueError as error:  # a dataclass's own __post_init__ refuses a combination of values
        raise UsageError(f"{tree.place}: {error}") from error


def _read(path: Path, including: tuple[Path, ...]) -> Located:
    real = Path(os.path.realpath(path))  # unlike resolve(), it does not raise for a loop of links: opening it does
    if real in including:
        raise UsageError(f"{path} includes itself: {' -> '.join(str(item) for item in (*including, path))}")
    if path.is_fifo() or path.is_socket():
        raise UsageError(f"{path} is a pipe, a file was expected")  # reading it would wait for a writer for ever
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} has {path.stat().st_size:,} bytes, a configuration has at most {MOST_BYTES:,}")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a text file ({error.reason} at byte {error.start})") from error
    except OSError as error:
        refused = from_os_error(error, action="cannot read the configuration", path=path)
        raise UsageError(refused.message, hint=refused.hint) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _check_size(node, path)
        tree = _locate(node, path) if node is not None else Located({}, f"{path}:1")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "it cannot be read"
        if isinstance(error, yaml.reader.ReaderError):  # the one error that knows no line
            line = text.count("\n", 0, error.position) + 1
            problem = f"the character {chr(error.character)!r} may not stand in it"
        raise UsageError(f"{path}:{line} is not valid YAML: {problem}") from error
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply, or an alias in it stands for itself") from error
    if not isinstance(tree.value, dict):
        raise UsageError(f"{tree.place}: the file must be a mapping of keys, got {_shown(tree.value)}")
    included = tree.value.pop("include", None)
    for name in _names(included):
        base = _read(path.parent / name, (*including, real))
        tree = _merge(base, tree)
    return tree


def _names(included: Located | None) -> list[str]:
    if included is None:
        return []
    items = included.value if isinstance(included.value, list) else [included]
    for item in items:
        if not isinstance(item.value, str):
            raise UsageError(f"{item.place}: include takes file names, got {_shown(item.value)}")
    return [item.value for item in reversed(items)]


def _place(node: yaml.Node, origin: Path | str) -> str:
    return origin if isinstance(origin, str) else f"{origin}:{node.start_mark.line + 1}"


def _check_size(node: yaml.Node, origin: Path | str) -> None:
    """Refuses aliases of aliases, of which a few lines stand for more values than any memory holds."""
    sizes: dict[int, int] = {}

    def size(one: yaml.Node) -> int:
        if id(one) not in sizes:
            sizes[id(one)] = 1  # while it is counted: an alias may stand for what it is part of
            parts = one.value if isinstance(one, yaml.CollectionNode) else ()
            inside = (part for item in parts for part in (item if isinstance(item, tuple) else (item,)))
            sizes[id(one)] = 1 + sum(map(size, inside))
            if sizes[id(one)] > MOST_VALUES:
                raise UsageError(
                    f"{_place(one, origin)}: with its aliases this stands for {sizes[id(one)]:,} values, "
                    f"a configuration has at most {MOST_VALUES:,}"
                )
        return sizes[id(one)]

    size(node)


def _locate(node: yaml.Node, origin: Path | str) -> Located:
    # origin is the file, or the text of the option whose value this is: that has no lines to name.
    place = _place(node, origin)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Located] = {}
        for key_node, value_node in node.value:
            name = str(key_node.value)
            key_place = _place(key_node, origin)
            if name in mapping:
                raise UsageError(f"{key_place}: key '{name}' stands twice, first at {mapping[name].place}")
            mapping[name] = Located(_locate(value_node, origin).value, key_place)
        return Located(mapping, place)
    if isinstance(node, yaml.SequenceNode):
        return Located([_locate(item, origin) for item in node.value], place)
    return Located(_scalar(node, place), place)


def _scalar(node: yaml.Node, place: str) -> Any:
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(node, deep=True)
    except ValueError as error:  # 2026-13-45 looks like a date, and !!int promises a number
        raise UsageError(f"{place}: {node.value!r} cannot be read: {error}; quotes make it text") from error
    return _number(value) if isinstance(value, str) and node.style is None else value  # type: ignore[attr-defined]


def _number(text: str) -> Any:
    # YAML 1.1 reads `1e-3` (no dot) as text, which everybody who writes it means as a number.
    try:
        return float(text) if any(char.isdigit() for char in text) else text
    except ValueError:
        return text


def _merge(base: Located, over: Located) -> Located:
    if not (isinstance(base.value, dict) and isinstance(over.value, dict)):
        return over
    merged = dict(base.value)
    for name, item in over.value.items():
        merged[name] = _merge(merged[name], item) if name in merged else item
    return Located(merged, over.place)


def _override(tree: Located, override: str) -> Located:
    name, separator, text = override.partition("=")
    place = f"--set {override}"
    if not separator or not name:
        raise UsageError(f"--set {override}: write it as KEY.KEY=VALUE, for example --set data.samples=64")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _check_size(node, place)
        value = _locate(node, place).value if node is not None else None
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"--set {override[:80]}: the value is not valid YAML") from error
    for part in reversed(name.split(".")):
        value = {part: Located(value, place)}
    return _merge(tree, Located(value, tree.place))


def _convert(hint: Any, item: Located, key: str) -> Any:
    origin, value = get_origin(hint), item.value
    if origin in (typing.Union, types.UnionType):
        return _one_of(get_args(hint), item, key)
    if origin is Annotated:
        return _within(get_args(hint), item, key)
    if origin is typing.Literal:
        if value in get_args(hint):
            return value
        names = [str(choice) for choice in get_args(hint)]
        raise UsageError(
            f"{item.place}: {key} is {_shown(value)}; it takes one of {', '.join(names)}{_nearest(str(value), names)}"
        )
    if origin is tuple:
        if not isinstance(value, list):
            raise UsageError(f"{item.place}: {key} must be a list, got {_shown(value)}")
        return tuple(_convert(get_args(hint)[0], part, f"{key}[{place}]") for place, part in enumerate(value))
    if is_dataclass(hint):
        return build(hint, item if value is not None else Located({}, item.place), key)  # type: ignore[arg-type]
    return _plain(hint, item, key)


def _one_of(arms: tuple[Any, ...], item: Located, key: str) -> Any:
    """Returns the value of a union: nothing, one of its words, or what its first other type makes of it."""
    if item.value is None and type(None) in arms:
        return None
    words = [word for arm in arms if get_origin(arm) is typing.Literal for word in get_args(arm)]
    if isinstance(item.value, str) and item.value in words:
        return item.value
    first = next(arm for arm in arms if arm is not type(None))
    try:
        return _convert(first, item, key)
    except UsageError as error:
        if words and get_origin(first) is not typing.Literal:
            raise UsageError(f"{error.message}; or one of {', '.join(map(str, words))}") from error
        raise


def _within(annotated: tuple[Any, ...], item: Located, key: str) -> Any:
    hint, *more = annotated
    value = _convert(hint, item, key)
    for bounds in more:
        if isinstance(bounds, Range) and value not in bounds:
            raise UsageError(f"{item.place}: {key} must be {bounds}, got {_shown(value)}")
    return value


def _plain(hint: Any, item: Located, key: str) -> Any:
    value = item.value
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{item.place}: {key} must be a finite number, got {_shown(value)}")
    if isinstance(value, str) and "\0" in value:
        raise UsageError(f"{item.place}: {key} holds a NUL character, got {_shown(value)}")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint is Path and isinstance(value, str):
        return Path(value)
    if type(value) is hint:
        return value
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text", Path: "a path"}
    raise UsageError(f"{item.place}: {key} must be {words.get(hint, str(hint))}, got {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a mapping with {', '.join(map(str, value)) or 'no keys'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "nothing" if value is None else f"{value!r}"


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


def _unknown_key(key: str, name: str, place: str, known: Sequence[str]) -> str:
    hint = _nearest(name, known) or f"; known here: {', '.join(known)}"
    return f"unknown key '{key}' in {place}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Bounds of a number: `least` and `most` belong to the range, `above` and `below` do not."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def __contains__(self, value: float) -> bool:
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        words = (("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below))
        return " and ".join(f"{word} {bound:g}" for word, bound in words if bound is not None)
