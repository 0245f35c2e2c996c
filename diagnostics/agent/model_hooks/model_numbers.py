"""A few numbers of a model's parameters and of its running statistics, read from memory; what shape a model has."""

from __future__ import annotations

import sys
from math import isfinite

from ..torch_hooks import tensor_samples

MOST_TENSORS, NUMBERS = 32, 8


def shape_of(model):
    """Returns the names and shapes of its parameters, the same for a copy of it, wrapped or sharded."""
    named = [(name, tuple(one.shape)) for name, one in model.named_parameters()]
    if named and all(name.startswith("module.") for name, _ in named):  # an average that holds the copy
        named = [(name[len("module.") :], shape) for name, shape in named]
    return tuple(named)


def numbers_of(model):
    """Returns {number of a parameter: its first numbers}; the first shard of a tensor begins as the tensor does."""
    found = {}
    for index, parameter in enumerate(model.parameters()):
        numbers = _first_of(parameter)
        if len(set(numbers)) > 1 and all(map(isfinite, numbers)):  # not what begins as a constant: biases, norms
            found[index] = numbers
            if len(found) == MOST_TENSORS:
                break
    return found


def is_changed(before, now):
    """Whether any number that was read of both differs."""
    return any(now[index] != numbers for index, numbers in before.items() if index in now)


def agree(one, other):
    """Whether what was read of both is the same, and that is most of it."""
    both = one.keys() & other.keys()
    return 2 * len(both) > max(len(one), len(other)) and all(one[index] == other[index] for index in both)


def writes_to(model):
    """Returns how often the parameters were written to in place."""
    return sum(one._version for one in model.parameters())


def statistics_of(model):
    """Returns (path, count of batches, whether they are as at first) of each part that normalises by batches."""
    return [
        (name, _count_of(one.num_batches_tracked), _is_new(one))
        for name, one in model.named_modules()
        if "BatchNorm" in type(one).__name__ and getattr(one, "num_batches_tracked", None) is not None
    ]


def _first_of(tensor):
    local = tensor_samples.local_of(tensor)
    if not local.numel() or tensor_samples.why_not(local):
        return ()
    data = tensor_samples.elements_of(local, range(min(NUMBERS, local.numel())))
    return tensor_samples.numbers_in(data, str(local.dtype)[len("torch.") :])


def _count_of(tensor):
    readable = tensor.numel() == 1 and not tensor_samples.why_not(tensor)
    return int.from_bytes(tensor_samples.bytes_of(tensor), sys.byteorder) if readable else None


def _is_new(norm):
    means, variances = _first_of(norm.running_mean), _first_of(norm.running_var)
    return bool(means) and bool(variances) and set(means) == {0.0} and set(variances) == {1.0}
