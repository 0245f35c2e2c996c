from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

WRITER = Path(__file__).parents[2] / "zoo" / "cache_writer.py"


@pytest.fixture(scope="session")
def tagged() -> Callable[..., None]:
    """`tagged(location, value, path, **options)`: torch.save as on a machine with that device."""
    spec = importlib.util.spec_from_file_location("cache_writer", WRITER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    writer: Callable[..., None] = module.tagged
    return writer


@pytest.fixture(scope="session")
def same() -> Callable[[Any, Any], bool]:
    """Whether two loaded objects are equal bit for bit, with devices, types, strides and shared storages."""
    return lambda one, other: _same(one, other) and _sharing(one) == _sharing(other)


def _same(one: Any, other: Any) -> bool:
    import torch

    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return _facts(one) == _facts(other) and all(map(_same_bits, _parts(one), _parts(other)))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _facts(tensor: Any) -> tuple[Any, ...]:
    strided = str(tensor.layout) == "torch.strided" and not tensor.is_nested
    shape = (tensor.shape, tensor.stride()) if strided else ()
    scale = (tensor.q_scale(), tensor.q_zero_point()) if tensor.is_quantized else ()
    return (tensor.dtype, tensor.device, tensor.layout, tensor.requires_grad, *shape, *scale)


def _parts(tensor: Any) -> Iterable[Any]:
    if tensor.is_nested:
        return list(tensor.unbind())
    if tensor.is_sparse:
        return [tensor._indices(), tensor._values()]
    return [tensor.int_repr()] if tensor.is_quantized else [tensor.detach()]


def _same_bits(one: Any, other: Any) -> bool:
    import torch

    if one.device.type == "meta":
        return bool(other.device.type == "meta")
    # Copied: a view of another element size wants strides that a tensor of one element need not have.
    plain = [torch.empty(part.numel(), dtype=part.dtype).copy_(part.flatten()) for part in (one, other)]
    return torch.equal(*(part.view(torch.uint8) for part in plain))


def _sharing(value: Any) -> list[int]:
    """Returns which tensors lie in the same storage: the number of the first one that does."""
    first: dict[int, int] = {}
    return [first.setdefault(pointer, number) for number, pointer in enumerate(_storages(value))]


def _storages(value: Any) -> list[int]:
    import torch

    if isinstance(value, torch.Tensor):
        plain = value.layout == torch.strided and not value.is_nested and value.device.type == "cpu" and value.numel()
        return [value.untyped_storage().data_ptr()] if plain else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [pointer for item in items for pointer in _storages(item)]
