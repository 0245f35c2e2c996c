"""Digests of what must be equal on all ranks."""

import hashlib

import torch


def gradients(model):
    """Returns a digest of all gradients, by name; one that is missing counts as such."""
    return digest((name, one.grad) for name, one in shared(model))


def parameters(model):
    """Returns a digest of all parameters that are trained, by name."""
    return digest((name, one.detach()) for name, one in shared(model))


def shared(model):
    """Yields name and parameter of those that are trained; without those that DDP was told to leave alone."""
    ignored = getattr(model, "parameters_to_ignore", ())
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and name.partition(".")[2] not in ignored:
            yield name, parameter


def digest(named):
    """Returns the digest of tensors and their names."""
    total = hashlib.sha256()
    for name, tensor in named:
        total.update(name.encode())
        total.update(b"-" if tensor is None else content(tensor))
    return total.hexdigest()[:16]


def content(tensor):
    """Returns a tensor's values as bytes."""
    dense = tensor.to_dense() if tensor.is_sparse else tensor
    return dense.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
