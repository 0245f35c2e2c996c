"""What is sharded, gathered for a file and spread again; what is not stays as it is.

`full_state` and `load_full` are for modules, `full_optimizer` and `load_full_optimizer` for their optimizers. Every
rank calls each of them; the form is that of one process: another strategy, or another number of ranks, reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist


def gathered(tree: Any) -> Any:
    """Returns the same containers with whole tensors on rank 0's CPU; other ranks hold empty ones in their places."""
    if isinstance(tree, Tensor):
        return _whole(tree)
    if isinstance(tree, Mapping):
        return {name: gathered(item) for name, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(gathered(item) for item in tree)
    return tree


def full_state(module: nn.Module) -> dict[str, Tensor]:
    """Returns a module's state, whole."""
    state: dict[str, Tensor] = gathered(module.state_dict())
    return state


def load_full(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Fills a module, sharded or not, from its whole state, which every rank has."""
    here = module.state_dict()
    module.load_state_dict({name: _like(value, here.get(name)) for name, value in state.items()})


def full_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Returns an optimizer's state, whole; parameters go by their number, as torch has it."""
    state: dict[str, Any] = gathered(optimizer.state_dict())
    return state


def load_full_optimizer(optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Fills an optimizer of sharded parameters or of plain ones from its whole state, which every rank has."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    spread = {
        number: {name: _like(value, parameters[number]) for name, value in values.items()}
        for number, values in state["state"].items()
    }
    optimizer.load_state_dict({**state, "state": spread})


def _whole(value: Tensor) -> Tensor:
    if not hasattr(value, "full_tensor"):
        return value
    # A shard that was moved to the CPU is gathered on the device, which the ranks talk over.
    whole: Tensor = value.to(value.device_mesh.device_type).full_tensor()  # type: ignore[attr-defined]
    return whole.cpu() if dist.get_rank() == 0 else whole.new_empty(0, device="cpu")


def _like(value: Any, parameter: Any) -> Any:
    """Returns a whole tensor as the shard that this rank holds of such a parameter."""
    if not hasattr(parameter, "full_tensor") or not isinstance(value, Tensor) or value.shape != parameter.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    mesh = parameter.device_mesh
    on_device = value.to(mesh.device_type)
    return distribute_tensor(on_device, mesh, parameter.placements, src_data_rank=None)
