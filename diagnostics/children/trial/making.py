"""Values like those whose structure was recorded."""

import collections
import copy
import dataclasses
import importlib
import types

import torch

from ..trial_observers.noise import noise, tiled


def prepared(structure, stored):
    """Returns a structure with its classes imported and its stored numbers at hand."""
    ready = dict(structure)
    if "items" in ready:
        ready["items"] = [prepared(item, stored) for item in ready["items"]]
    if "stored" in ready and ready["stored"] < len(stored):
        ready["kept"] = stored[ready["stored"]]
    elif ready["kind"] == "pickled":
        ready["kind"] = "opaque"  # beyond what is kept of a recording
    if ready["kind"] in ("namedtuple", "dict", "object", "sequence"):
        ready["type"] = _class(ready)
    return ready


def _class(structure):
    """Returns the recorded class; one that cannot be imported, as those within functions, is made alike."""
    module, _, names = structure["class"].partition(":")
    try:
        value = importlib.import_module(module)
        for name in names.split("."):
            value = getattr(value, name)
        return value
    except (ImportError, AttributeError):
        pass
    name = names.rpartition(".")[2]
    if structure["kind"] == "namedtuple":
        return collections.namedtuple(name, structure["names"])
    return {"dict": dict, "sequence": tuple}.get(structure["kind"], types.SimpleNamespace)


def known(structure):
    """Whether a value can be made: nothing in it is opaque."""
    return structure["kind"] != "opaque" and all(known(item) for item in structure.get("items", ()))


class Making:
    """Makes values. `depends` is a scalar 0 that carries the gradients, None where nothing is to carry them."""

    def __init__(self, inputs=(), depends=None, device="cpu", lower=None, everything=False):
        self.inputs, self.depends, self.device, self.everything = list(inputs), depends, device, everything
        self.lower = lower  # (dtype recorded, dtype to give instead, only of what autocast lowers), None: as recorded

    def make(self, structure):
        """Returns a value of this structure."""
        kind = structure["kind"]
        if kind == "tensor":
            return self.tensor(structure)
        if kind == "value":
            return structure["value"]
        if kind == "pickled":
            return copy.deepcopy(structure["kept"])
        items = [self.make(item) for item in structure["items"]]
        if kind == "tuple":
            return tuple(items)
        if kind == "list":
            return items
        if kind == "sequence":
            return structure["type"](items)
        return made_of(structure, items)

    def tensor(self, told):
        """Returns a tensor of the recorded kind."""
        given = self.inputs[told["input"]] if "input" in told and told["input"] < len(self.inputs) else None
        dtype = getattr(torch, told["dtype"])
        if not dtype.is_floating_point and not dtype.is_complex:
            return given if given is not None else self.fixed(told, dtype)
        if given is not None:
            made = given
        elif "kept" in told:
            made = self.fixed(told, self.as_now(told, dtype))
        elif dtype.is_complex:
            made = torch.ones(self.shape(told), dtype=dtype, device=self.device)
        else:
            made = noise(self.shape(told), told, self.as_now(told, dtype), self.device)
        if self.depends is not None and (told["grad"] or self.everything):
            made = made + self.depends.to(device=made.device, dtype=made.dtype)
        return made

    def fixed(self, told, dtype):
        """Returns the recorded numbers."""
        if "kept" not in told:
            return noise(self.shape(told), told, dtype, self.device)
        return tiled(told["kept"], self.shape(told), self.device).to(dtype)

    def as_now(self, told, dtype):
        """Returns the dtype that is given where `dtype` was recorded."""
        if self.lower is None or self.lower[0] is not dtype or (self.lower[2] and not told.get("lowers")):
            return dtype
        return self.lower[1]

    def shape(self, told):
        """Returns the recorded shape, where its dims follow an input's with that one's present size."""
        return [self.size(size, rule) for size, rule in zip(told["shape"], told.get("dims") or [None] * 99)]  # noqa: B905 - Python 3.8 has no strict

    def size(self, size, rule):
        """Returns the present size of a dim."""
        if rule is None or rule[0] >= len(self.inputs) or rule[1] >= self.inputs[rule[0]].dim():
            return size
        now = self.inputs[rule[0]].shape[rule[1]]
        return now if rule[2] == size else now * size // rule[2]


def made_of(structure, items):
    """Returns a dict, namedtuple, dataclass or object from its parts."""
    kind, named = structure["type"], dict(zip(structure["names"], items))  # noqa: B905 - see above
    if structure["kind"] == "namedtuple":
        return kind(*items)
    if structure["kind"] == "dict" and kind is dict:
        return named
    if structure["kind"] == "dict" or dataclasses.is_dataclass(kind):
        return from_names(kind, named)
    return from_attributes(kind, named)


def from_names(kind, named):
    """Returns what a class makes of keywords; without its constructor where it refuses them."""
    try:
        return kind(**named)
    except Exception:  # the user's own constructor
        return from_attributes(kind, named)


def from_attributes(kind, named):
    """Returns an object of the class with these attributes, made without its constructor."""
    made = kind.__new__(kind)
    if isinstance(made, dict):
        made.update(named)
    else:
        for name, value in named.items():
            object.__setattr__(made, name, value)
    return made
