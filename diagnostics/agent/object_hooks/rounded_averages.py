"""Averages of the weights in bfloat16 or float16 that are written to in each step, and of which almost nothing moves.

Over a window of steps some numbers of what the program's objects hold are followed: tensors of low precision that are
in no optimizer, have the shapes of parameters that are, and lie near them. What is not written to is no average: where
`.data` hides that, some numbers that moved show it. Nothing is held between the two looks but weak references.
"""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from math import isfinite, sqrt

from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import walk
from . import held_objects

LOW = {"torch.bfloat16": 2.0**-8, "torch.float16": 2.0**-11}  # how far numbers next to each other are, by themselves
WINDOWS = ((20, 60), (100, 180), (300, 400), (2000, 2200))  # steps
MOST_GROUPS, MOST_TENSORS, MOST_NUMBERS, MOST_ENTRIES = 4, 24, 64, 2000
FAR = 8  # such steps between a number and what it is to come to
SHARE = 4  # of the tensors, one in so many is seen to be written to at least
ALIKE = 0.7  # how far an average goes along with its source
MAPS = (dict, OrderedDict)


class Row:
    """One tensor of an average, and its source."""

    __slots__ = ("before", "key", "near", "numbers", "positions", "ref", "source", "version", "wanted")

    def __init__(self, key, tensor, source):
        self.key, self.ref, self.source = key, weakref.ref(tensor), weakref.ref(source)
        self.positions = range(0, tensor.numel(), max(1, tensor.numel() // MOST_NUMBERS))[:MOST_NUMBERS]
        self.before, self.version = tensor_samples.elements_of(tensor, self.positions), tensor._version
        self.numbers, self.wanted = _numbers(tensor, self.positions), _numbers(source, self.positions)
        self.near = LOW[str(tensor.dtype)]


class RoundedAverages:
    """Those of one process; `parameters` are the (name, parameter) pairs that an optimizer holds."""

    def __init__(self):
        self._open = {}  # path -> (Held without its value, rows)

    def begin(self, frame, parameters):
        """Opens a window."""
        self._open, taken = {}, {id(one) for _, one in parameters}
        for held in held_objects.held_by(frame):
            found = [(key, one) for key, one in _tensors_in(held.value) if id(one) not in taken]
            if len(self._open) >= MOST_GROUPS or not found:
                continue
            taken.update(id(one) for _, one in found)
            pairs = list(_with_sources(found, parameters))
            rows = [Row(*pair) for pair in pairs[:: max(1, len(pairs) // MOST_TENSORS)][:MOST_TENSORS]]
            if rows and _along(rows) >= ALIKE:
                self._open[held.path] = rows

    def end(self, frame, steps):
        """Closes it; returns what is told of each."""
        known, self._open = self._open, {}
        if not known:
            return []
        return [
            {"path": held.path[:120], "name": held.name[:80], "owner": held.owner[:80], "file": held.file,
             "steps": steps, **facts}
            for held in held_objects.held_by(frame) if held.path in known
            for facts in [_compared(known.pop(held.path), dict(_tensors_in(held.value)), steps)] if facts is not None
        ]  # fmt: skip


def _compared(rows, now, steps):
    """Returns how many of the numbers that are far from their source moved, None where nobody writes to them."""
    far = moved = writes = 0
    kind = ""
    for row in rows:
        tensor, source = now.get(row.key), row.source()
        if tensor is None or source is None or tensor_samples.why_not(source):
            continue
        after = tensor_samples.elements_of(tensor, row.positions)
        went_on = _numbers(source, row.positions)
        size, kind = tensor.element_size(), str(tensor.dtype)
        same = tensor is row.ref()  # one that is made anew each time may only look at what stays as it is
        writes += after != row.before or (same and tensor._version - row.version >= steps // 2)
        for place, (number, wanted, later) in enumerate(zip(row.numbers, row.wanted, went_on)):  # noqa: B905 - 3.10
            if later != wanted and min(abs(wanted - number), abs(later - number)) > FAR * row.near * abs(number):
                far += 1
                moved += after[place * size : (place + 1) * size] != row.before[place * size : (place + 1) * size]
    if not far or SHARE * writes < len(rows):
        return None
    return {"far": far, "moved": moved, "kind": kind, "tensors": len(rows)}


def _tensors_in(value):
    """Returns (key, tensor) of what a container or a module holds of low precision on the host."""
    kind = type(value)
    if kind in MAPS:
        found = list(value.items())[:MOST_ENTRIES]
    elif kind in (list, tuple):
        found = list(enumerate(value[:MOST_ENTRIES]))
    elif issubclass(kind, sys.modules["torch"].nn.Module):
        found = [(name, one) for name, one, _ in walk(value)][:MOST_ENTRIES]
    else:
        return []
    return [(str(key), one) for key, one in found if _is_low(one)]


def _is_low(one):
    torch = sys.modules["torch"]
    return type(one) in (torch.Tensor, torch.nn.Parameter) and str(one.dtype) in LOW and _is_plain(one)


def _is_plain(tensor):
    return tensor.numel() > 0 and not tensor_samples.why_not(tensor) and tensor.is_contiguous()


def _with_sources(found, parameters):
    """Yields (key, tensor, parameter): of the same name, or the next one of its shape."""
    by_name, waiting = dict(parameters), iter(parameters)
    for key, tensor in found:
        source = next((by_name[name] for name in _names_of(key) if name in by_name), None)
        if source is None:
            source = next((one for _, one in waiting if one.shape == tensor.shape), None)
        if source is not None and source.shape == tensor.shape and _is_plain(source):
            yield key, tensor, source


def _names_of(key):
    """Yields a name, and what it is behind the names of wrappers."""
    while key:
        yield key
        key = key.partition(".")[2]


def _numbers(tensor, positions):
    data = tensor_samples.elements_of(tensor, positions)
    return [
        one if isfinite(one) else 0.0 for one in tensor_samples.numbers_in(data, str(tensor.dtype)[len("torch.") :])
    ]


def _along(rows):
    """Returns how far the numbers of all go along with those of their sources."""
    pairs = [pair for row in rows for pair in zip(row.numbers, row.wanted)]  # noqa: B905 - strict is of Python 3.10
    size = sqrt(sum(one * one for one, _ in pairs) * sum(one * one for _, one in pairs))
    return sum(one * other for one, other in pairs) / size if size else 0.0
