"""The structure of a value as JSON, so that another process can make a value like it.

{"kind": "tensor", "shape": [2, 16, 64], "dtype": "float32", "grad": true,
"mean", "std", "low", "high": of its finite numbers, null where there are none; "nan": true where one is NaN,
"input": 0,                     it is the very tensor that was given as number 0; absent else
"dims": [[0, 0, 2], null, ...]  a dim of an output that follows dim 0 (which was 2) of the input tensor 0
"stored": 3}                    place in the file beside it; absent where the numbers were not kept
{"kind": "value", "value": 0.5}  None, bool, int, float, str
{"kind": "tuple" / "list", "items": [...]}
{"kind": "namedtuple" / "dict" / "object", "class": "package.module:Class", "names": [...], "items": [...]}
{"kind": "pickled", "stored": 4, "class"}   anything else that can be pickled
{"kind": "opaque", "class"}                 anything else
"""

import pickle

import torch

from .walking import MAX_DEPTH, PLAIN, attributes

KEPT_BYTES = 16 << 20  # a tensor larger than this is told by its statistics only
FEW_VALUES = 4  # a float tensor of so few values is a mask, a one-hot or a constant, and no noise


class Describing:
    """Describes the values of one call; `stored` is what goes into the file beside the description."""

    def __init__(self, inputs=(), keep_all=False, lowering=None):
        self.inputs, self.keep_all, self.stored, self.lowering = list(inputs), keep_all, [], lowering

    def describe(self, value, depth=MAX_DEPTH):
        """Returns the structure of a value."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, PLAIN):
            return {"kind": "value", "value": value}
        if not depth:
            return {"kind": "opaque", "class": class_name(value)}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._named("namedtuple", value, value._asdict(), depth)
        if type(value) in (tuple, list):
            return {"kind": type(value).__name__, "items": [self.describe(item, depth - 1) for item in value]}
        if isinstance(value, (tuple, list)):
            described = [self.describe(item, depth - 1) for item in value]
            return {"kind": "sequence", "class": class_name(value), "items": described}
        if isinstance(value, dict) and all(isinstance(key, (str, int)) for key in value):
            return self._named("dict", value, value, depth)
        known = attributes(value)
        if known:
            return self._named("object", value, known, depth)
        return self._pickled(value)

    def _named(self, kind, value, items, depth):
        described = [self.describe(item, depth - 1) for item in items.values()]
        return {"kind": kind, "class": class_name(value), "names": list(items), "items": described}

    def _pickled(self, value):
        try:
            pickle.dumps(value)
        except Exception:  # anything may be raised by another's __reduce__
            return {"kind": "opaque", "class": class_name(value)}
        return {"kind": "pickled", "class": class_name(value), "stored": self._store(value)}

    def _store(self, value):
        self.stored.append(value)
        return len(self.stored) - 1

    def _tensor(self, tensor):
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            return {"kind": "opaque", "class": class_name(tensor)}
        if tensor.is_nested or tensor.is_quantized:
            return {"kind": "opaque", "class": class_name(tensor)}
        told = {"kind": "tensor", "shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:]}
        told["grad"] = tensor.requires_grad
        plain = tensor.detach()
        told.update(statistics(plain))
        if self.lowering is not None and self.lowering.lowers(tensor):
            told["lowers"] = True
        same = [number for number, one in enumerate(self.inputs) if one is tensor]
        if same:
            told["input"] = same[0]
        if self.keep_all:
            self.inputs.append(tensor)
        else:
            told["dims"] = [follows(tensor, dim, self.inputs) for dim in range(tensor.dim())]
        kept = (self.keep_all and not same) or not tensor.is_floating_point() or has_few_values(plain)
        if kept and plain.numel() * plain.element_size() <= KEPT_BYTES:
            told["stored"] = self._store(plain.cpu().clone())
        return told


def class_name(value):
    """Returns "package.module:Class" of a value."""
    return "%s:%s" % (type(value).__module__, type(value).__qualname__)


def statistics(tensor):
    """Returns mean, deviation and range of what is finite, as plain numbers."""
    told = {"mean": None, "std": None, "low": None, "high": None, "nan": False}
    if not tensor.numel() or tensor.is_complex():
        return told
    numbers = tensor.double()
    finite = numbers[torch.isfinite(numbers)]
    told["nan"] = bool(torch.isnan(numbers).any())
    if finite.numel():
        told.update(mean=finite.mean().item(), std=finite.std(unbiased=False).item())
        told.update(low=finite.min().item(), high=finite.max().item())
    return told


def has_few_values(tensor):
    """Whether a float tensor holds no more than a few different numbers."""
    return 0 < tensor.numel() <= 1 << 20 and torch.unique(tensor.flatten()[:4096]).numel() <= FEW_VALUES


def follows(tensor, dim, inputs):
    """Returns [input tensor, its dim, its size] that a dim of an output follows; None where it follows none.

    The like dim counted from the front is preferred, then from the back, then any. The first dim may be a multiple
    or a part of an input's first: tokens of a batch put one after another.
    """
    size = tensor.shape[dim]
    if not size:
        return None
    places = [(number, at, other) for number, one in enumerate(inputs) for at, other in enumerate(one.shape)]
    from_back = {number: dim - tensor.dim() + one.dim() for number, one in enumerate(inputs)}
    preferred = (
        [place for place in places if place[1] == dim and place[2] == size],
        [place for place in places if place[1] == from_back[place[0]] and place[2] == size],
        [place for place in places if place[2] == size],
        [
            place
            for place in places
            if dim == place[1] == 0 and place[2] > 1 and not (size % place[2] and place[2] % size)
        ],
    )
    return next((list(found[0]) for found in preferred if found), None)
