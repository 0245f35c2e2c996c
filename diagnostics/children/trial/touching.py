"""A scalar 0 that depends on all inputs and parameters, so that gradients reach whatever a module would have used."""

import torch

TOUCH = "_ups_doctor_touch"  # the keyword by which a stand-in asks those below it to add theirs


def nothing_of(tensors, device):
    """Returns 0, depending on each float tensor. NaN where one holds NaN, as nearly any module would give."""
    total = torch.zeros((), device=device)
    for tensor in tensors:
        total = added(total, tensor)
    return total


def added(total, tensor):
    """Returns total + 0 * tensor, which is NaN where the tensor has NaN. Infinity is what masks are made of: 0.

    The tensor is not kept for the backward pass: the model may change it in place.
    """
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if not tensor.is_floating_point():
        return total
    nothing = (tensor * 0).sum().to(device=total.device, dtype=total.dtype)
    broken = torch.isnan(tensor.detach()).any().to(total.device)
    return total + torch.where(broken, nothing, torch.zeros_like(nothing))


def touched(module, names, below, total):
    """Returns the total with the module's own parameters, and those of the modules below, each called for its own.

    They are called and not read, since a wrapper may gather a module's parameters only where it is called.
    """
    for name in names:
        parameter = getattr(module, name)
        if isinstance(parameter, torch.Tensor):
            total = added(total, parameter)
    for name in below:
        total = module._modules[name](total, **{TOUCH: True})
    return total
