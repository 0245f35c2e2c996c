"""Graphs that lead back through the passes before: a state that is carried on with its graph, which nothing cuts.

Each node of a graph has a number that rises while the program runs. That of the loss is noted at each backward pass;
at a few passes the graph is followed, and counted how many of the passes before it has nodes of.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import deque

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames

MOST_NODES = 20_000
LEAST = 8  # passes
MOST = 64
LEAVES = 1 << 62  # they have the largest number there is


class EndlessGraphs(Part):
    """Of all backward passes of this process."""

    def forget(self):
        """Starts over."""
        self._passes, self._numbers = 0, deque(maxlen=MOST)

    def backward(self, tensors, loss, adds):
        """Notes the number of this loss; follows its graph where it is due."""
        root = tensors[0].grad_fn if adds and type(tensors[0]) is sys.modules["torch"].Tensor else None
        number = getattr(root, "_sequence_nr", None)
        if number is None:
            return
        number = number()
        self._passes += 1
        if is_due(self._passes) and len(self._numbers) >= LEAST:
            reached = _reached(root, sorted(self._numbers))
            if reached >= LEAST:
                self.marks.tell(
                    "graph-endless", passes=self._passes, reached=reached, at=own_frames(sys._getframe(1))
                )  # fmt: skip
        if number < LEAVES:
            self._numbers.append(number)


def _reached(root, numbers):
    """Returns in how many of the passes before, whose losses have these numbers, nodes of this graph were made."""
    waiting, met, found = deque([root]), {root}, set()
    while waiting and len(met) < MOST_NODES and len(found) < len(numbers):
        node = waiting.popleft()
        number = node._sequence_nr()
        if number <= numbers[-1]:
            found.add(bisect_left(numbers, number))
        for one, _ in node.next_functions:
            if one is not None and one not in met:
                met.add(one)
                waiting.append(one)
    return len(found)
