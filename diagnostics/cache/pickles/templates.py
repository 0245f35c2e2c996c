"""The facts of torch pickles, walked once for all that differ only in numbers and texts which change no fact.

The files of one cache often have the same pickle byte for byte, or one that differs in a float, a sample's index
or its name. What such a value is reaches no fact: it was put into a list or a dict, and nothing else was done
with it. Its bytes are left out of the comparison with pickles that were walked before; all else must be equal,
each length and opcode too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from diagnostics.cache.pickles.facts import PickleFacts, facts_of
from diagnostics.cache.pickles.opcodes import HANDLERS, walk_pickle
from diagnostics.cache.pickles.walk import Handler, PickleWalk

MAX_SHARED_BYTES = 1 << 16  # of a pickle; larger ones are walked each time
MAX_EXACT, MAX_LENGTHS, MAX_SAME_LENGTH = 64, 64, 4
MAX_SPANS = 4096
USELESS = 32  # templates beyond those that were of use


class FreeNumber(int):
    """A whole number and the bytes that hold it."""

    span: tuple[int, int]


class FreeText(str):
    """A text and the bytes that hold it."""

    __slots__ = ("span",)
    span: tuple[int, int]


@dataclass(slots=True)
class FreeWalk(PickleWalk):
    """A walk that finds the bytes which change no fact."""

    floats: list[tuple[int, int]] = field(default_factory=list)
    stored: dict[int, FreeNumber | FreeText] = field(default_factory=dict)
    recalled: set[int] = field(default_factory=set)

    def keep(self, node: Any, key: Any, value: Any) -> None:
        """Puts a value into a container, and notes it where that is all that is done with it."""
        PickleWalk.keep(self, node, key, value)
        if type(value) is FreeNumber or type(value) is FreeText:
            self.stored[id(value)] = value

    def spans(self) -> list[tuple[int, int]]:
        """Returns the bytes that change no fact, in order."""
        stored = (value.span for value in self.stored.values() if id(value) not in self.recalled)
        return sorted([*self.floats, *stored])


def _free(handler: Handler, prefix: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        value = walk.stack[-1]
        if type(value) is int or type(value) is str:
            free: FreeNumber | FreeText = FreeNumber(value) if isinstance(value, int) else FreeText(value)
            free.span = (walk.op_at + 1 + prefix, walk.at)
            walk.stack[-1] = free

    return push


def _float(walk: PickleWalk) -> None:
    HANDLERS[ord("G")](walk)
    if isinstance(walk, FreeWalk) and len(walk.floats) < MAX_SPANS:
        walk.floats.append((walk.op_at + 1, walk.at))


def _recalled(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if isinstance(walk, FreeWalk):
            walk.recalled.add(id(walk.stack[-1]))

    return push


# How many bytes of an argument are its length, which is never free.
_PREFIXES = {"K": 0, "M": 0, "J": 0, "\x8a": 1, "X": 4, "\x8c": 1, "U": 1}
FREE: dict[int, Handler] = {
    **HANDLERS,
    **{ord(code): _free(HANDLERS[ord(code)], prefix) for code, prefix in _PREFIXES.items()},
    **{ord(code): _recalled(HANDLERS[ord(code)]) for code in "hjg2"},
    ord("G"): _float,
}


@dataclass(frozen=True, slots=True)
class Template:
    """A pickle that was walked: what must be the same in another, and the facts of both."""

    cut: struct.Struct
    fixed: tuple[bytes, ...]
    facts: PickleFacts


def template(data: bytes, facts: PickleFacts) -> Template | None:
    """Returns what another pickle must share with this one, None where it must be all of it."""
    walk = FreeWalk(data)
    walk.run(FREE)
    spans = walk.spans()[:MAX_SPANS]
    if not spans:
        return None
    cut = struct.Struct("<" + "".join(_formats(spans, len(data))))
    return Template(cut, cut.unpack(data), facts)


def _formats(spans: Iterable[tuple[int, int]], size: int) -> Iterable[str]:
    at = 0
    for begin, end in spans:
        yield f"{begin - at}s{end - begin}x"
        at = end
    yield f"{size - at}s"


@dataclass(slots=True)
class KnownPickles:
    """Pickles that were walked, bounded in number and bytes."""

    exact: dict[bytes, PickleFacts] = field(default_factory=dict)
    templates: dict[int, list[Template]] = field(default_factory=dict)  # by the pickle's length
    made: int = 0
    used: int = 0

    def facts(self, data: bytes) -> PickleFacts:
        """Returns what a pickle says. Raises MalformedPickleError."""
        if len(data) > MAX_SHARED_BYTES:
            return facts_of(walk_pickle(data))
        facts = self.exact.get(data)
        return facts if facts is not None else self._similar(data) or self._walked(data)

    def _similar(self, data: bytes) -> PickleFacts | None:
        for known in self.templates.get(len(data), ()):
            if known.cut.unpack(data) == known.fixed:
                self.used += 1
                return known.facts
        return None

    def _walked(self, data: bytes) -> PickleFacts:
        facts = facts_of(walk_pickle(data))
        # The second pickle of a length is worth a template; where they are of no use, no more are made.
        if any(len(known) == len(data) for known in self.exact) and self.made < self.used + USELESS:
            self._learn(data, facts)
        if len(self.exact) >= MAX_EXACT:
            self.exact.pop(next(iter(self.exact)))
        self.exact[data] = facts
        return facts

    def _learn(self, data: bytes, facts: PickleFacts) -> None:
        self.made += 1
        learned = template(data, facts)
        if learned is None:
            return
        if len(self.templates) >= MAX_LENGTHS:
            self.templates.clear()
        same = self.templates.setdefault(len(data), [])
        same.insert(0, learned)
        del same[MAX_SAME_LENGTH:]


KNOWN = KnownPickles()
