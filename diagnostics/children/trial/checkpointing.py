"""Activation checkpointing of each module that holds others."""

import functools

import torch
from torch.utils.checkpoint import checkpoint

from .units import is_called


def add(model):
    """Has each module below the root that holds others compute its forward again in the backward pass.

    The forward is replaced and no module put around it: names and parameters stay what the wrappers see.
    """
    for path, module in model.named_modules():
        called = is_called(module) and not isinstance(module, torch.jit.ScriptModule)
        if path and called and any(True for _ in module.children()):
            module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)
