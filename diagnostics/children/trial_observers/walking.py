"""The tensors inside what modules take and give: containers, dataclasses and objects, nested in any way."""

import dataclasses

import torch

MAX_DEPTH = 8
PLAIN = (type(None), bool, int, float, str)


def tensors_in(value):
    """Returns the tensors of a value, in an order that equal structures share."""
    found = []
    _collect(value, found, MAX_DEPTH)
    return found


def _collect(value, found, depth):
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif depth and not isinstance(value, PLAIN):
        for item in parts(value):
            _collect(item, found, depth - 1)


def parts(value):
    """Returns what a container, a dataclass or an object with attributes holds."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (tuple, list)):
        return list(value)
    return list(attributes(value).values())


def attributes(value):
    """Returns the attributes of a data object, {} for what is none: a module, a class, a function, a number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}
    if isinstance(value, (torch.nn.Module, type)) or callable(value) or not hasattr(value, "__dict__"):
        return {}
    return dict(vars(value))


def mapped(value, change, depth=MAX_DEPTH):
    """Returns the value with `change(tensor)` in place of each tensor of its tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if not depth:
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change, depth - 1) for item in value))
    if type(value) in (tuple, list):
        return type(value)([mapped(item, change, depth - 1) for item in value])
    if type(value) is dict:
        return {key: mapped(item, change, depth - 1) for key, item in value.items()}
    return value


def signature(value, depth=MAX_DEPTH):
    """Returns what a call is told apart by: the plain values, and of tensors the kind and the number of dims."""
    if isinstance(value, torch.Tensor):
        return ("tensor", value.ndim, value.is_floating_point())
    if isinstance(value, PLAIN):
        return value
    if not depth:
        return type(value).__name__
    if isinstance(value, dict):
        return tuple((str(key), signature(item, depth - 1)) for key, item in value.items())
    return (type(value).__name__, *[signature(item, depth - 1) for item in parts(value)])
