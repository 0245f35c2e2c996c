"""The blocks of a model: what is sharded, compiled and recomputed as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint


def root_of(module: nn.Module) -> nn.Module:
    """Returns the innermost module that holds every parameter: what a stage calls, whatever is put around it."""
    while not list(module.parameters(recurse=False)) and not list(module.buffers(recurse=False)):
        inner = [child for child in module.children() if any(True for _ in child.parameters())]
        if len(inner) != 1 or isinstance(inner[0], (nn.ModuleList, nn.ModuleDict)):
            break
        module = inner[0]
    return module


def blocks_of(module: nn.Module) -> list[nn.Module]:
    """Returns the elements of a model's nn.ModuleLists that have more than one layer with parameters."""
    return list(_blocks(module))


def _blocks(module: nn.Module) -> Iterator[nn.Module]:
    for child in module.children():
        if not isinstance(child, nn.ModuleList):
            yield from _blocks(child)
            continue
        for element in child:
            if isinstance(element, nn.ModuleList):
                yield from _blocks(nn.ModuleList([element]))
            elif sum(1 for part in element.modules() if [*part.parameters(recurse=False)]) > 1:
                yield element


def recompute(block: nn.Module) -> None:
    """Makes a block keep its inputs alone in training, and compute the rest again in the backward pass."""
    forward: Callable[..., Any] = block.forward

    def recomputed(*args: Any, **kwargs: Any) -> Any:
        if not block.training:
            return forward(*args, **kwargs)
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    block.forward = recomputed
