"""What is known of a tensor in a program whose ranks each hold a part of some dimension. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from diagnostics.static.program.functions import Function


@dataclass(frozen=True, slots=True)
class Reduction:
    """One sum, mean or extreme over a dimension, of what this rank has of it."""

    kind: str
    text: str
    dim: str
    roots: frozenset[str]  # the tensors whose dimension it is
    after: frozenset[Reduction] = field(compare=False)  # those over all ranks that went into what it reduces
    node: ast.expr = field(compare=False)
    function: Function = field(compare=False)

    def over_what(self, other: Reduction) -> bool:
        """Whether two reductions are over the same dimension of the same tensor."""
        return self.dim == other.dim and bool(self.roots & other.roots)


@dataclass(frozen=True, slots=True)
class Misuse:
    """`own`, of one rank's part, is taken for one of the whole dimension by what is at `node`."""

    own: Reduction
    how: str
    node: ast.AST = field(compare=False)


@dataclass(frozen=True, slots=True)
class Part:
    """What a value is made of: elementwise of `roots`; of reductions that are this rank's, or of all ranks."""

    roots: frozenset[str] = frozenset()
    direct: frozenset[Reduction] = frozenset()  # it has the shape of their results: no other dimension went since
    own: frozenset[Reduction] = frozenset()
    summed: frozenset[Reduction] = frozenset()
    misuses: frozenset[Misuse] = frozenset()
    shared: bool = False  # multiplied or divided by the number of ranks, so that it is a share of the whole
    items: tuple[Part, ...] = ()  # of a tuple
    opaque: bool = False  # of what is not looked into

    def is_whole(self, beside: Reduction) -> bool:
        """Whether this is of all ranks' reductions over a dimension, and of nothing that is one rank's."""
        over = any(beside.over_what(one) for one in self.summed)
        return over and not (self.own or self.shared or self.roots & beside.roots)

    def without_shape(self) -> Part:
        """Returns what is left where dimensions are moved or gone."""
        return replace(self, roots=frozenset(), direct=frozenset(), items=())

    def over_ranks(self) -> Part:
        """Returns the value as all ranks together have it."""
        return Part(summed=self.summed | self.direct, shared=self.shared)


def joined(parts: Iterable[Part]) -> Part:
    """Returns a value that is made of several, element by element."""
    all_parts = list(parts)
    if len(all_parts) == 1:
        return replace(all_parts[0], items=())
    return Part(
        roots=frozenset().union(*(one.roots for one in all_parts)),
        direct=frozenset().union(*(one.direct for one in all_parts)),
        own=frozenset().union(*(one.own for one in all_parts)),
        summed=frozenset().union(*(one.summed for one in all_parts)),
        misuses=frozenset().union(*(one.misuses for one in all_parts)),
        shared=any(one.shared for one in all_parts),
    )


def either(first: Part, second: Part) -> Part:
    """Returns a value that is one of two, by a branch: what one has of all ranks is not lacking in the other."""
    both = joined((_beside(first, second), _beside(second, first)))
    items: tuple[Part, ...] = ()
    if len(first.items) == len(second.items):
        items = tuple(either(one, other) for one, other in zip(first.items, second.items, strict=True))
    return replace(both, own=both.own - both.summed, direct=both.direct - both.summed, items=items)


def _beside(part: Part, other: Part) -> Part:
    """Returns one way without what the other one takes over the ranks: this one is for where there is one rank."""
    more = other.summed - part.summed
    own = frozenset(one for one in part.own if not any(one.over_what(each) for each in more))
    return replace(part, own=own, misuses=frozenset(one for one in part.misuses if one.own in own))
