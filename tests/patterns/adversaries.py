"""Strings that a pattern is slow on, made from its own structure: each repeated part many times, and near misses."""

from __future__ import annotations

import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

ALPHABET = " \t\n\"'()[]{}<>=,;:/\\|#@-_.+*%$&!?~^`0aAzZ5\u00e9\x00"
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ONE_CHARACTER = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
MANY = 16  # a part that may be repeated so often is one that is worth repeating
MOST_PUMPS, MOST_PREFIXES = 48, 8


@dataclass(frozen=True, slots=True)
class Adversary:
    """`prefix`, then `pump` again and again, then `suffix`."""

    prefix: str
    pump: str
    suffix: str

    def text(self, length: int) -> str:
        """Returns about `length` characters."""
        return self.prefix + self.pump * max(1, length // len(self.pump)) + self.suffix

    def __str__(self) -> str:
        return f"{self.prefix!r} + {self.pump!r} * n + {self.suffix!r}"


def adversaries(pattern: re.Pattern[Any]) -> list[Adversary]:
    """Returns the strings that may take a pattern long; none where nothing in it is repeated."""
    return _of(
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1"), pattern.flags
    )


def _of(source: str, flags: int) -> list[Adversary]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parser.parse(source, (flags & ~re.UNICODE & ~re.LOCALE) | re.UNICODE if not flags & re.ASCII else flags)
    single = list(_single_characters(tree))
    repeats = list(_repeats(tree, ""))
    if not any(high >= MANY for _, _, high in repeats):
        return []
    kinds = _kinds(single, source)
    pumps = dict.fromkeys(kinds)
    pumps.update(dict.fromkeys(_starts(tree)))
    for body, _, _ in repeats:
        pumps.update(dict.fromkeys(_samples(body)))
    pumps.update(dict.fromkeys(first + second for first, second in product(kinds[:7], repeat=2) if first != second))
    most = [pump for pump in pumps if pump][:MOST_PUMPS]
    found = {Adversary("", pump, suffix): None for pump in most for suffix in ("", "\x00")}
    prefixes = list(dict.fromkeys(prefix for _, prefix, high in repeats if high >= MANY and prefix))[:MOST_PREFIXES]
    found.update(
        {Adversary(prefix, pump, "\x00"): None for prefix in prefixes for pump in [*kinds[:8], *_starts(tree)[:2]]}
    )
    return list(found)


def _items(node: Any) -> Iterator[list[Any]]:
    """Yields the sequences below an item of a parse tree."""
    what, value = node
    if what in REPEATS:
        yield value[2]
    elif what is op.SUBPATTERN:
        yield value[3]
    elif what is op.BRANCH:
        yield from value[1]
    elif what in (op.ASSERT, op.ASSERT_NOT):
        yield value[1]
    elif what is op.ATOMIC_GROUP:
        yield value
    elif what is op.GROUPREF_EXISTS:
        yield from (one for one in value[1:] if one is not None)


def _single_characters(tree: Any) -> Iterator[Any]:
    for node in tree:
        if node[0] in ONE_CHARACTER:
            yield node
        for inner in _items(node):
            yield from _single_characters(inner)


def _repeats(tree: Any, before: str) -> Iterator[tuple[Any, str, int]]:
    """Yields each repeated part, what leads up to it, and how often it may be repeated."""
    for node in tree:
        if node[0] in REPEATS:
            yield node[1][2], before, int(node[1][1])
        for inner in _items(node):
            yield from _repeats(inner, before)
        before += _sample([node])


def _sample(tree: Any, choice: int = 0) -> str:
    """Returns a short text that a sequence matches, as far as that is easy to tell."""
    text = ""
    for node in tree:
        what, value = node
        if what is op.LITERAL:
            text += chr(value)
        elif what in ONE_CHARACTER:
            text += next((one for one in "a0 " + ALPHABET if _accepts(node)(one)), "")
        elif what in REPEATS:
            text += _sample(value[2]) * min(value[0] or (1 if value[1] else 0), 50)
        elif what is op.BRANCH:
            text += _sample(value[1][min(choice, len(value[1]) - 1)])
        elif what not in (op.ASSERT, op.ASSERT_NOT):
            text += "".join(_sample(inner, choice) for inner in _items(node))
    return text


def _samples(tree: Any) -> list[str]:
    ways = max((len(node[1][1]) for node in _all(tree) if node[0] is op.BRANCH), default=1)
    return list(dict.fromkeys(_sample(tree, choice) for choice in range(min(ways, 8))))


def _all(tree: Any) -> Iterator[Any]:
    for node in tree:
        yield node
        for inner in _items(node):
            yield from _all(inner)


def _starts(tree: Any) -> list[str]:
    """Returns what begins a match: repeated, it begins one again and again."""
    first = _sample(tree)
    found = [first, first[:-1]]
    for choice in range(6):
        for end in range(1, len(tree) + 1):
            found.append(_sample(tree[:end], choice))
    return list(dict.fromkeys(one for one in found if one))[:30]


def _accepts(node: Any) -> Callable[[str], bool]:
    key = repr(node)
    if key not in _KNOWN:
        state = parser.State()
        state.flags = re.UNICODE
        state.str = ""
        compiled = compiler.compile(parser.SubPattern(state, [node]), 0)
        _KNOWN[key] = {one for one in map(chr, range(256)) if compiled.fullmatch(one)}
    return _KNOWN[key].__contains__


_KNOWN: dict[str, set[str]] = {}


def _kinds(single: list[Any], source: str) -> list[str]:
    """Returns one character of each kind: those that no part of the pattern tells apart are of one kind."""
    known: dict[tuple[bool, ...], str] = {}
    for character in "a0 " + ALPHABET + "".join(dict.fromkeys(one for one in source if one.isalnum())):
        known.setdefault(tuple(_accepts(node)(character) for node in single), character)
    return list(known.values())
