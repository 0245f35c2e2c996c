"""What a stand-in gives: recorded outputs, the module's own or those of a sibling built alike."""

import torch

from ..trial_observers.calls import alike, recorded
from ..trial_observers.journal import file_of_rank
from . import making


class Variant:
    """One recorded way to be called."""

    def __init__(self, call):
        gave = call.gave()
        self.output = making.prepared(call.output, gave)
        self.sets = {name: making.prepared(told, gave) for name, told in call.sets.items()}
        self.sets = {name: told for name, told in self.sets.items() if making.known(told)}
        self.mutates, self.autocast = call.mutates, call.line["autocast"]
        self.signature = as_tuple(call.line["signature"])
        tensors = [*tensors_told(call.line["args"]), *tensors_told(call.line["kwargs"])]
        self.shapes = [tuple(one["shape"]) for one in tensors]
        floats = [getattr(torch, one["dtype"]) for one in tensors if "float" in one["dtype"]]
        self.dtype = floats[0] if floats else None
        given = tensors_told(call.output)
        self.carries = any(one["grad"] for one in given)
        self.has_floats = any("float" in one["dtype"] or "complex" in one["dtype"] for one in given)

    @property
    def known(self):
        """Whether its output can be made."""
        return making.known(self.output)

    def likeness(self, called, shapes):
        """Returns how like this one a call is, to be compared."""
        return (called == self.signature, sum(one == other for one, other in zip(shapes, self.shapes)))  # noqa: B905 - Python 3.8 has no strict

    def kind(self):
        """Returns what tells it from other variants of its module."""
        return repr((self.signature, self.shapes, skeleton(self.output), sorted(self.sets)))


def as_tuple(value):
    """Returns nested lists as nested tuples."""
    return tuple(as_tuple(item) for item in value) if isinstance(value, list) else value


def tensors_told(structure):
    """Returns the structures of all tensors, in the order of `tensors_in`."""
    if structure["kind"] == "tensor":
        return [structure]
    return [one for item in structure.get("items", ()) for one in tensors_told(item)]


def skeleton(structure):
    """Returns a structure without its numbers."""
    own = [structure.get(key) for key in ("kind", "class", "names", "value", "shape", "dtype", "grad", "input")]
    return (own, [skeleton(item) for item in structure.get("items", ())])


class Recorded:
    """All that was recorded of a model, by path: on this rank, else on rank 0, which may have come further."""

    def __init__(self, file, rank=0):
        self._of_first, self._alike = recorded(file), alike(file)
        self._own_calls = recorded(file_of_rank(file, rank)) if rank else {}
        self.calls = {**self._of_first, **self._own_calls}
        self._variants = {}

    def variants(self, path):
        """Returns what the module at this path gave, else what a sibling built alike did; [] where none is known."""
        paths = [path, *(other for other, name in self._alike.items() if name == self._alike.get(path))]
        return next((found for found in map(self._own, paths) if found), [])

    def _own(self, path):
        if path not in self._variants:
            kinds = {}
            for call in self._ended(path):
                variant = Variant(call)
                kinds.setdefault(variant.kind(), variant)
            self._variants[path] = [one for one in kinds.values() if one.known]
        return self._variants[path]

    def _ended(self, path):
        both = (self._own_calls.get(path, ()), self._of_first.get(path, ()))
        ended = ([call for call in calls if call.output is not None] for calls in both)
        return next(filter(None, ended), [])
