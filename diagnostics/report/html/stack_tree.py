"""Stacks of many ranks as one tree: what they share stands once, outermost first, with its ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_NODES = 400


@dataclass(slots=True)
class Node:
    """A run of frames that the same ranks share; `text` has one frame a line."""

    frames: list[str] = field(default_factory=list)
    ranks: set[int] = field(default_factory=set)
    below: dict[str, Node] = field(default_factory=dict)


def tree_of(groups: Sequence[Mapping[str, Any]]) -> list[Node]:
    """Returns the roots; a chain of frames without a fork is one node."""
    root, made = Node(), 0
    for group in groups:
        ranks, at = set(group["ranks"]), root
        for frame in reversed(group["frames"]):
            if frame not in at.below:
                if made >= MOST_NODES:
                    break
                made += 1
                at.below[frame] = Node(frames=[frame])
            at = at.below[frame]
            at.ranks |= ranks
    return [_joined(node) for node in root.below.values()]


def _joined(node: Node) -> Node:
    while len(node.below) == 1:
        (only,) = node.below.values()
        if only.ranks != node.ranks:
            break
        node = Node(frames=[*node.frames, *only.frames], ranks=node.ranks, below=only.below)
    children = {name: _joined(child) for name, child in node.below.items()}
    order = sorted(children.items(), key=lambda pair: len(pair[1].ranks))  # the odd ones on top
    return Node(frames=node.frames, ranks=node.ranks, below=dict(order))


def rank_set(ranks: Sequence[int]) -> str:
    """Returns "0, 2-7, 9"."""
    return ", ".join(_ranges(sorted(ranks)))


def _ranges(ranks: list[int]) -> Iterator[str]:
    start = 0
    for place in range(1, len(ranks) + 1):
        if place == len(ranks) or ranks[place] != ranks[place - 1] + 1:
            first, last = ranks[start], ranks[place - 1]
            yield str(first) if first == last else f"{first}-{last}"
            start = place
