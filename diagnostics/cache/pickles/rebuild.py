"""What the callables that rebuild tensors give, from their arguments as a pickle holds them.

Arguments: torch/_utils.py and torch/_tensor.py of torch 0.4 to 2.13. Arguments that are no such thing give a
tensor of unknown size: the pickle is read on, and torch would refuse it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from diagnostics.cache.pickles.values import OPAQUE, Global, PickleNode, PickleTensor
from diagnostics.cache.storages import DTYPE_BYTES, StorageTag

MAX_DIMENSIONS = 64  # torch's own limit
MAX_ELEMENTS = 1 << 62


class Notes(Protocol):
    """What a rebuilding tells the walk that it belongs to; pickle_walk.PickleWalk is one."""

    op_at: int
    tensors: int

    def use(self, storage: StorageTag, tensor: PickleTensor, begin: int, end: int) -> None:
        """Notes which bytes of a storage a tensor views."""

    def on_device(self, tensor: PickleTensor) -> StorageTag:
        """Notes a tensor that names a device of its own."""

    def result(self, callee: Any, arguments: Any) -> Any:
        """Returns what stands for the result of a call."""


Rebuild = Callable[[Notes, tuple[Any, ...]], Any]


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Returns the numbers of a size or stride, None for what is none."""
    if type(value) is not tuple or len(value) > MAX_DIMENSIONS:
        return None
    for number in value:
        if not isinstance(number, int) or not 0 <= number < MAX_ELEMENTS:
            return None
    return value


def elements(shape: tuple[int, ...]) -> int:
    """Returns how many elements a shape has."""
    count = 1
    for length in shape:
        count *= length
    return count


def dtype_of(value: Any) -> tuple[str, int]:
    """Returns (name, bytes of an element) of a torch dtype named in a pickle."""
    name = value.name.removeprefix("torch.") if isinstance(value, Global) else "unknown"
    return name, DTYPE_BYTES.get(name, 0)


def _view(walk: Notes, arguments: tuple[Any, ...], dtype: tuple[str, int] | None = None) -> PickleTensor:
    storage, offset, size, stride = arguments[:4]
    if not isinstance(storage, StorageTag) or not isinstance(offset, int):
        raise ValueError("no view of a storage")
    shape, steps = shape_of(size), shape_of(stride)
    if shape is None or steps is None or len(shape) != len(steps) or not 0 <= offset < MAX_ELEMENTS:
        raise ValueError("no size or stride")
    name, itemsize = dtype or (storage.dtype, storage.itemsize)
    numel = elements(shape)
    tensor = PickleTensor(walk.op_at, name, itemsize, shape, numel, storage, storage.location)
    if numel:
        reach = offset + 1
        for length, step in zip(shape, steps, strict=True):
            reach += (length - 1) * step
        walk.use(storage, tensor, offset * itemsize, reach * itemsize)
    return tensor


def _flags(tensor: PickleTensor, requires_grad: Any, hooks: Any) -> PickleTensor:
    tensor.requires_grad = requires_grad is True
    tensor.hooks = type(hooks) is PickleNode and hooks.count > 0
    return tensor


def _v1(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    return _view(walk, arguments)


def _v2(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    return _flags(_view(walk, arguments), *arguments[4:6])


def _v3(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    return _flags(_view(walk, arguments, dtype_of(arguments[6])), *arguments[4:6])


def _quantised(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    tensor = _flags(_view(walk, arguments), *arguments[5:7])
    tensor.parts = _parts(walk, arguments[4])
    return tensor


def _parts(walk: Notes, values: Any) -> tuple[Any, ...]:
    """Returns the tensors among the values, which from now on are parts of another."""
    found = tuple(value for value in values if type(value) is PickleTensor) if type(values) is tuple else ()
    for tensor in found:
        if not tensor.part:
            tensor.part = True
            walk.tensors -= 1
    return found


def _of_parts(walk: Notes, values: Any, content: Any, size: Any) -> PickleTensor:
    shape = shape_of(size) or ()
    if type(content) is not PickleTensor:
        raise ValueError("no tensor holds the values")
    tensor = PickleTensor(walk.op_at, content.dtype, content.itemsize, shape, content.numel, None, content.device)
    tensor.parts = _parts(walk, values)
    return tensor


def _sparse(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    data = arguments[1]
    if type(data) is not tuple or len(data) < 3:
        raise ValueError("no sparse data")
    tensors = [value for value in data if type(value) is PickleTensor]
    return _of_parts(
        walk, data, tensors[-1] if tensors else None, data[len(tensors)] if len(data) > len(tensors) else ()
    )


def _nested(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    content = arguments[0]
    return _of_parts(walk, arguments, content, content.size if type(content) is PickleTensor else ())


def _meta(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    dtype, size, _, requires_grad = arguments[:4]
    shape = shape_of(size) or ()
    return _flags(PickleTensor(walk.op_at, *dtype_of(dtype), shape, elements(shape), None, "meta"), requires_grad, None)


def _on_device(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    data, dtype, device, requires_grad = arguments[:4]
    if not isinstance(device, str):
        raise ValueError("no device")
    (known,) = _parts(walk, (data,)) or (None,)
    shape = known.size if known is not None else ()
    tensor = PickleTensor(walk.op_at, *dtype_of(dtype), shape, elements(shape) if known else 0, None, str(device))
    tensor.storage = walk.on_device(tensor)
    return _flags(tensor, requires_grad, None)


def _wrapper(walk: Notes, arguments: tuple[Any, ...]) -> PickleTensor:
    _, dtype, size, _, _, _, device, requires_grad = arguments[:8]
    shape = shape_of(size) or ()
    tensor = PickleTensor(walk.op_at, *dtype_of(dtype), shape, 0, None, str(device) if isinstance(device, str) else "")
    if tensor.device:
        tensor.storage = walk.on_device(tensor)
    return _flags(tensor, requires_grad, None)


def _parameter(walk: Notes, arguments: tuple[Any, ...]) -> Any:
    data, requires_grad, hooks = (*arguments, False, None)[:3] if len(arguments) < 3 else arguments[:3]
    if type(data) is not PickleTensor:
        return data if type(data) is PickleNode else OPAQUE
    data.parameter = True
    return _flags(data, requires_grad, hooks)


def _from_type(walk: Notes, arguments: tuple[Any, ...]) -> Any:
    function, kind, inner = arguments[:3]
    if not isinstance(function, Global) or function.name not in TENSORS:
        return OPAQUE  # also a nest of itself, which would cost recursion
    value = walk.result(function, inner)
    if type(value) is PickleTensor and isinstance(kind, Global) and "parameter" in kind.name.lower():
        value.parameter = True
    return value


def _size(walk: Notes, arguments: tuple[Any, ...]) -> Any:
    return arguments[0] if type(arguments[0]) is tuple else OPAQUE


def _device(walk: Notes, arguments: tuple[Any, ...]) -> Any:
    return ":".join(str(part) for part in arguments if isinstance(part, str | int)) if len(arguments) < 3 else OPAQUE


# Each gives one tensor more.
TENSORS: dict[str, Rebuild] = {
    "torch._utils._rebuild_tensor": _v1,
    "torch._utils._rebuild_tensor_v2": _v2,
    "torch._utils._rebuild_tensor_v3": _v3,
    "torch._utils._rebuild_qtensor": _quantised,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _nested,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _on_device,
    "torch._utils._rebuild_device_tensor_from_numpy": _on_device,
    "torch._utils._rebuild_xla_tensor": _on_device,
    "torch._utils._rebuild_wrapper_subclass": _wrapper,
}
OTHERS: dict[str, Rebuild] = {
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch.nn.parameter.Parameter": _parameter,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch.Size": _size,
    "torch.device": _device,
}
