"""What of a step is not a number any more."""

import math

import torch


def number(value):
    """Whether a Python number is NaN or infinite; None is not."""
    return value is not None and not math.isfinite(value)


def gradient(model):
    """Returns "gradient of NAME" for the first parameter whose gradient has such a value, "" for none."""
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not finite(parameter.grad):
            return "gradient of %s" % name
    return ""


def parameter(model):
    """Returns "parameter NAME" for the first parameter that has such a value, "" for none."""
    return next(("parameter %s" % name for name, one in model.named_parameters() if not finite(one.detach())), "")


def finite(tensor):
    """Whether all values are finite; of a sharded tensor, those that lie here."""
    local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    values = local.coalesce().values() if local.is_sparse else local
    return not (values.is_floating_point() or values.is_complex()) or bool(torch.isfinite(values).all())
