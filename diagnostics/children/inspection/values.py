"""Tensors inside what users hand around: batches and outputs, nested in any way."""

from dataclasses import fields, is_dataclass

import torch

MAX_DEPTH = 6


def named_tensors(value, name="", depth=0):
    """Yields (name, tensor) for each tensor in tuples, lists, dicts and dataclasses: "batch['mask']"."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif depth > MAX_DEPTH:
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from named_tensors(item, "%s[%r]" % (name, key), depth + 1)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from named_tensors(item, "%s[%d]" % (name, index), depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from named_tensors(getattr(value, field.name, None), "%s.%s" % (name, field.name), depth + 1)


def moved(value, device):
    """Returns the value with its tensors on `device`; a container of another kind stays as it is."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: moved(item, device) for key, item in value.items()}
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(moved(item, device) for item in value)
    return value


def loss_of(output):
    """Returns one number to go backward from, None where no part of the output has a gradient.

    A `loss` that the model itself gives, else the sum of the means of all floating tensors found.
    """
    own = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    if isinstance(own, torch.Tensor) and own.requires_grad:
        return own.float().mean()
    parts = [tensor for _, tensor in named_tensors(output) if tensor.requires_grad]
    parts = [tensor.abs() if tensor.is_complex() else tensor for tensor in parts]
    device = parts[0].device if parts else None
    return sum(tensor.float().mean().to(device) for tensor in parts) if parts else None


def same(one, other):
    """Whether two tensors hold the same, NaN being like NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    equal = one == other
    if one.is_floating_point() or one.is_complex():
        equal = equal | ((one != one) & (other != other))
    return bool(equal.all())
