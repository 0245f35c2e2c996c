"""Activation checkpointing, as a user would have it: each block by itself."""

import functools

import torch
from torch.utils.checkpoint import checkpoint

from .units import is_called, items


def add(model):
    """Has each block that holds other modules compute its forward again in the backward pass.

    The forward is replaced and no module put around it: names and parameters stay what the wrappers see.
    """
    for module in blocks(model):
        module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)


def blocks(model):
    """Returns the items of containers that hold other modules; of a model without such, its own parts that do."""
    found = [one for one in items(model) if holds_others(one)]
    return found or [one for one in model.children() if holds_others(one)]


def holds_others(module):
    """Whether the module has modules inside, and a forward that can be replaced."""
    inside = any(True for _ in module.children())
    return inside and is_called(module) and not isinstance(module, torch.jit.ScriptModule)
