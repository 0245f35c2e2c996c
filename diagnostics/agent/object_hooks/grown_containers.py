"""Containers of the program that hold ever more tensors, with the graph that computed them or large, and sums with one.

What is held with its graph at the end of each step keeps all activations of that step. Known are lengths alone, from
look to look, and how many bytes the latest entry has.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque

from ..frame_values import attributes_of

LEAST = 24  # entries, or sums
LEAST_RATE = 0.2  # entries for each step
MOST_TOLD = 8
MOST_CHAIN = 4096
MOST_INSIDE = 8
LEAST_BYTES = 16 << 10  # of an entry that has no graph
_MAPS = (dict, defaultdict, OrderedDict)
_SUMS = ("AddBackward0", "SubBackward0")
_BETWEEN = ("MulBackward0", "DivBackward0")


class Grown:
    """One container, or one sum."""

    __slots__ = ("key", "length", "rising", "step")

    def __init__(self, key, length, step):
        self.key, self.length, self.step, self.rising = key, length, step, 0


class GrownContainers:
    """All that were met at the look before."""

    def __init__(self):
        self._known = {}  # path -> Grown

    def look(self, held, step, found):
        """Notes one object; adds what grew over two looks and more to `found`."""
        size = _size_of(held.value)
        if size is None or size[0] < LEAST:
            return
        length, key, entry_bytes = size
        before = self._known.get(held.path)
        if before is None or before.key != key or len(self._known) > 512:
            self._known[held.path] = Grown(key, length, step)
            return
        if step <= before.step:
            return  # met on another way in this look
        grows = length - before.length >= LEAST_RATE * (step - before.step)
        before.rising = before.rising + 1 if grows else 0
        # Large entries without a graph after one look: a short run has no third, and memory has to grow as well.
        if before.rising > (0 if entry_bytes else 1) and len(found) < MOST_TOLD:
            found.append(
                {"path": held.path[:120], "name": held.name[:80], "owner": held.owner[:80], "file": held.file,
                 "length": length, "before": before.length, "steps": step - before.step, "sum": key == 0,
                 "bytes": entry_bytes}
            )  # fmt: skip
        before.length, before.step = length, step


def _size_of(value):
    """Returns (length, identity, bytes of an entry) of a container of tensors, or of a sum; None of others.

    No bytes: the latest entry has a graph.
    """
    kind = type(value)
    if kind in (list, deque, *_MAPS):
        if len(value) < LEAST or (kind is deque and value.maxlen is not None):
            return None
        try:
            latest = next(reversed(value.values() if kind in _MAPS else value))
        except (StopIteration, RuntimeError, TypeError):  # another thread changes it; Python 3.7 cannot
            return None
        tensors = _tensors_in(latest)
        if any(one.grad_fn is not None for one in tensors):
            return len(value), id(value), 0
        entry_bytes = sum(one.numel() * one.element_size() for one in tensors)
        return (len(value), id(value), entry_bytes) if entry_bytes >= LEAST_BYTES else None
    if kind is sys.modules["torch"].Tensor and value.grad_fn is not None and value.numel() == 1:
        return _sums_behind(value.grad_fn), 0, 0
    return None


def _tensors_in(value, deeper=True):
    torch = sys.modules["torch"]
    if type(value) is torch.Tensor:
        return [value]
    if not deeper:
        return []
    if type(value) in (list, tuple):
        inside = value[:MOST_INSIDE]
    elif type(value) in _MAPS:
        inside = list(value.values())[:MOST_INSIDE]
    elif issubclass(type(value), tuple):  # a named one
        inside = tuple.__getitem__(value, slice(MOST_INSIDE))
    else:
        inside = list((attributes_of(value) or {}).values())[:MOST_INSIDE]
    return [tensor for one in inside for tensor in _tensors_in(one, False)]


def _sums_behind(node):
    """Returns how many additions in a row led to a number."""
    count = 0
    while node is not None and count < MOST_CHAIN:
        inputs = [one for one, _ in node.next_functions if one is not None]
        count += node.name() in _SUMS
        node = next((one for one in inputs if one.name() in _SUMS), None) or next(
            (one for one in inputs if one.name() in _BETWEEN), None
        )
    return count
