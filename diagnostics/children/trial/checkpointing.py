"""Activation checkpointing of each module that holds others."""

import functools

import torch
from torch.utils.checkpoint import checkpoint


def add(model):
    """Has each module below the root that holds others compute its forward again in the backward pass.

    The forward is replaced and no module put around it: names and parameters stay what the wrappers see.
    """
    for path, module in model.named_modules():
        compiled = isinstance(module, torch.jit.ScriptModule)
        if path and not compiled and any(True for _ in module.children()):
            module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)
