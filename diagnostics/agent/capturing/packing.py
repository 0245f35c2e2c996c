"""A value as a pickle and its tensors, apart: these are copies on the CPU, or shapes where they are too large."""

from __future__ import annotations

import importlib
import io
import pickle
import types

from .secrets import without_secrets

PROTOCOL = 4
MAINS = ("__main__", "__mp_main__")  # the second in processes that multiprocessing starts anew


class Packed:
    """What `pack` made. `names`: what the script's own module has to define before it is read again."""

    def __init__(self, data, tensors, names, spared):
        self.data, self.tensors, self.names = data, tensors, names
        self.spared = spared  # bytes of tensors whose values are not kept


def pack(value, limit, records=None):
    """Returns the value packed; raises what pickling raises. `records`: modules to be built anew, by id."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, limit, records or {})
    pickler.dump(value)
    return Packed(without_secrets(buffer.getvalue()), pickler.tensors, pickler.names, pickler.spared)


class _Pickler(pickle.Pickler):
    def __init__(self, buffer, limit, records):
        super().__init__(buffer, PROTOCOL)
        self.left, self.records = limit, records
        self.tensors, self.names, self.spared = [], set(), 0
        self._known = {}  # id(tensor) -> (persistent id, the tensor: kept alive)

    def persistent_id(self, value):
        import torch

        if isinstance(value, torch.Tensor):
            return self._tensor(value, torch)
        if isinstance(value, torch.nn.Module) and id(value) in self.records:
            return ("module", id(value), *self.records[id(value)].parts)
        return None

    def _tensor(self, value, torch):
        if id(value) in self._known:
            return self._known[id(value)][0]
        kinds = {torch.Tensor: "tensor", torch.nn.Parameter: "parameter"}
        kind = kinds.get(type(value))
        if kind is None:
            return None  # a subclass says itself how it is pickled
        self.tensors.append(self._copy(value, torch))
        told = ("tensor", len(self.tensors) - 1, kind, bool(value.requires_grad))
        self._known[id(value)] = (told, value)
        return told

    def _copy(self, value, torch):
        """Returns a copy on the CPU, or shape and range where the limit is reached."""
        size = value.numel() * value.element_size()
        if value.device.type == "meta" or size > self.left:
            self.spared += size
            return shape_of(value, torch)
        self.left -= size
        copy = value.detach().cpu()
        if copy.layout == torch.strided and _storage_bytes(copy) > 2 * size + 4096:
            copy = copy.clone()  # a slice of something larger
        return copy

    def reducer_override(self, value):
        """Notes what is pickled by name from the script's own module; Python modules go by name."""
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, (type, types.FunctionType)) and getattr(value, "__module__", "") in MAINS:
            self.names.add(value.__qualname__.partition(".")[0])
        return NotImplemented


def _storage_bytes(tensor):
    try:
        return tensor.untyped_storage().nbytes()
    except (AttributeError, NotImplementedError, RuntimeError):  # sparse, wrapped by functorch, torch before 2.0
        return 0


def shape_of(value, torch):
    """Returns what is needed to draw a tensor like this one."""
    told = {"shape": list(value.shape), "dtype": str(value.dtype).partition(".")[2], "low": 0.0, "high": 1.0}
    if value.device.type == "meta" or not value.numel():
        return told
    detached = value.detach()
    if value.is_floating_point():
        sample = detached.flatten()[: 1 << 20].float()
        told.update(mean=float(sample.mean()), std=float(sample.std(unbiased=False)))
    elif not value.is_complex():
        told.update(low=int(detached.min()), high=int(detached.max()))
    return told
