"""What is told of torch pickles, worked out once for all that differ only in numbers and texts which change nothing.

The files of one cache often have the same pickle byte for byte, or one that differs in a float, a sample's index
or its name. What such a value is reaches no fact: it was put into a list or a dict, and nothing else was done
with it. Its bytes are left out of the comparison with pickles that were walked before; all else must be equal,
each length and opcode too.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from diagnostics.cache.pickles.facts import PickleFacts, facts_of
from diagnostics.cache.pickles.opcodes import HANDLERS, walk_pickle
from diagnostics.cache.pickles.walk import Handler, PickleWalk

MAX_SHARED_BYTES = 1 << 20  # of a pickle, some 10,000 tensors; larger ones are walked each time
MAX_KEPT_BYTES = 4 << 20  # of all pickles that are kept, and of all templates
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


Told = TypeVar("Told")  # what a pickle says: its facts, or the edits that repair it


@dataclass(frozen=True, slots=True)
class Template(Generic[Told]):
    """A pickle that was walked: what must be the same in another, and what is told of both."""

    cut: struct.Struct
    fixed: tuple[bytes, ...]
    told: Told


def template(data: bytes, told: Told) -> Template[Told] | None:
    """Returns what another pickle must share with this one, None where it must be all of it."""
    walk = FreeWalk(data)
    walk.run(FREE)
    spans = walk.spans()[:MAX_SPANS]
    if not spans:
        return None
    cut = struct.Struct("<" + "".join(_formats(spans, len(data))))
    return Template(cut, cut.unpack(data), told)


def _formats(spans: Iterable[tuple[int, int]], size: int) -> Iterable[str]:
    at = 0
    for begin, end in spans:
        yield f"{begin - at}s{end - begin}x"
        at = end
    yield f"{size - at}s"


@dataclass(slots=True)
class KnownPickles(Generic[Told]):
    """Pickles of which `walked` told something, bounded in number and bytes."""

    walked: Callable[[bytes], Told]
    exact: dict[bytes, Told] = field(default_factory=dict)
    templates: dict[int, list[Template[Told]]] = field(default_factory=dict)  # by the pickle's length
    waiting: dict[int, bytes] = field(default_factory=dict)  # by length: one of `exact` that no template is made of
    exact_bytes: int = 0
    template_bytes: int = 0
    made: int = 0
    used: int = 0
    keeping: threading.Lock = field(default_factory=threading.Lock)

    def told(self, data: bytes) -> Told:
        """Returns what a pickle says. Raises what `walked` raises."""
        if len(data) > MAX_SHARED_BYTES:
            return self.walked(data)
        told = self.exact.get(data)
        if told is not None:
            return told
        similar = self._similar(data)
        if similar is None and len(data) in self.waiting:
            with self.keeping:  # a repair reads several files at once
                told = self.exact.get(data)
                if told is not None:
                    return told
                self._learn_from_waiting(len(data))
            similar = self._similar(data)
        return similar.told if similar is not None else self._new(data)

    def _similar(self, data: bytes) -> Template[Told] | None:
        for known in self.templates.get(len(data), ()):
            if known.cut.unpack(data) == known.fixed:
                self.used += 1
                return known
        return None

    def _learn_from_waiting(self, length: int) -> None:
        """Makes a template of the first pickle of a length when the second comes, which then need not be walked.

        Where templates are of no use, no more are made.
        """
        first = self.waiting.pop(length, b"")
        told = self.exact.get(first)
        if told is not None and self.made < self.used + USELESS:
            self._learn(first, told)

    def _new(self, data: bytes) -> Told:
        told = self.walked(data)
        with self.keeping:
            self._keep(data, told)
        return told

    def _keep(self, data: bytes, told: Told) -> None:
        if data in self.exact:
            return
        self.exact_bytes += len(data)
        while self.exact and (len(self.exact) >= MAX_EXACT or self.exact_bytes > MAX_KEPT_BYTES):
            oldest = next(iter(self.exact))
            del self.exact[oldest]
            self.exact_bytes -= len(oldest)
            if self.waiting.get(len(oldest)) is oldest:
                del self.waiting[len(oldest)]
        self.exact[data] = told
        self.waiting[len(data)] = data

    def _learn(self, data: bytes, told: Told) -> None:
        self.made += 1
        learned = template(data, told)
        if learned is None:
            return
        self.template_bytes += len(data)
        if len(self.templates) >= MAX_LENGTHS or self.template_bytes > MAX_KEPT_BYTES:
            self.templates.clear()
            self.template_bytes = len(data)
        same = self.templates.setdefault(len(data), [])
        same.insert(0, learned)
        self.template_bytes -= len(data) * len(same[MAX_SAME_LENGTH:])
        del same[MAX_SAME_LENGTH:]


def facts_in(data: bytes) -> PickleFacts:
    """Returns what a pickle says. Raises MalformedPickleError."""
    return facts_of(walk_pickle(data))


KNOWN = KnownPickles(facts_in)
