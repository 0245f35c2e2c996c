"""The gradient of one parameter of an optimizer, which stands for those of all: which one, and whether it is empty."""

from __future__ import annotations

import sys

from ..torch_hooks import tensor_samples

MOST_LOOKED = 64  # parameters, among which one with a gradient is looked for


def is_emptied(gradient, after):
    """Whether nothing is left of what a pass added to; `after`: address, version, whether its numbers can be read."""
    if gradient is None:
        return True
    address, version, readable = after
    return readable and (gradient.data_ptr(), gradient._version) != (address, version) and _is_zero(gradient)


def choose(optimizer):
    """Returns a parameter with a gradient, one of the last: they are the first to have one."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    for parameter in reversed(parameters[-MOST_LOOKED:]):
        gradient = parameter.grad
        if gradient is None or type(gradient) is not sys.modules["torch"].Tensor or gradient.is_sparse:
            continue
        if gradient.device.type != "meta" and not _is_zero(gradient):
            return parameter
    return None


def _is_zero(gradient):
    """Whether the numbers that can be read of it are all zero."""
    if tensor_samples.why_not(gradient):
        return False
    return tensor_samples.print_of(gradient, tensor_samples.LEAST_OF_ONE)[1] == 0
