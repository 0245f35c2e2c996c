"""A tree of parts, each of which may be taken out together with what is below it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """One part. `weight` says how likely it is the one, beside the others; it counts for the part's own, not below.

    Where several hold one part, they are its `holders`, and `parent` is what holds them all.
    """

    name: str
    parent: str | None
    holders: tuple[str, ...] = ()
    weight: float = 1.0
    removable: bool = True


class PartTree:
    """Parts by name; the first one is the root. Children keep their order."""

    def __init__(self, parts: Sequence[TreeNode]) -> None:
        self.parts = {part.name: part for part in parts}
        self.root = parts[0].name
        self._children: dict[str, list[str]] = {part.name: [] for part in parts}
        for part in parts:
            if part.parent is not None:
                self._children[part.parent].append(part.name)
        self._below: dict[str, frozenset[str]] = {}
        for name in self.upward():
            self._below[name] = frozenset({name}).union(*(self._below[child] for child in self._children[name]))
        for part in reversed(parts):
            for holder in part.holders:
                for name in (holder, *self.above(holder)):
                    self._below[name] |= self._below[part.name]

    def allow(self, name: str) -> None:
        """Notes that this part can be taken out after all."""
        self.parts[name] = replace(self.parts[name], removable=True)

    def upward(self) -> Iterator[str]:
        """Yields every part after those below it."""
        return reversed(list(self._down(self.root)))

    def children(self, name: str) -> Sequence[str]:
        """Returns the parts right below."""
        return self._children[name]

    def below(self, name: str) -> frozenset[str]:
        """Returns the part and everything below it."""
        return self._below[name]

    def covered(self, names: Iterable[str]) -> frozenset[str]:
        """Returns everything that goes with these parts."""
        return frozenset().union(*(self._below[name] for name in names))

    def roots(self, names: Iterable[str]) -> frozenset[str]:
        """Returns those of the names that no other one of them holds."""
        wanted = frozenset(names)
        return frozenset(name for name in wanted if wanted.isdisjoint(self.above(name)))

    def above(self, name: str) -> tuple[str, ...]:
        """Returns the parts that hold this one, the nearest first."""
        found = []
        parent = self.parts[name].parent
        while parent is not None:
            found.append(parent)
            parent = self.parts[parent].parent
        return tuple(found)

    def common(self, names: Sequence[str]) -> str:
        """Returns the smallest part that holds all of these; one of them where it holds the others."""
        chain = (names[0], *self.above(names[0]))
        return next(part for part in chain if all(name in self._below[part] for name in names))

    def others(self, kept: Iterable[str]) -> tuple[str, ...]:
        """Returns the largest removable parts that lie neither above nor below one that is kept."""
        return tuple(self._others(self.root, frozenset(kept), self.covered(kept)))

    def _others(self, name: str, kept: frozenset[str], below: frozenset[str]) -> Iterator[str]:
        if name in below:
            return
        if self.parts[name].removable and not self._below[name] & kept:
            yield name
            return
        for child in self._children[name]:
            yield from self._others(child, kept, below)

    def _down(self, name: str) -> Iterator[str]:
        stack = [name]
        while stack:
            here = stack.pop()
            yield here
            stack.extend(reversed(self._children[here]))
