"""Every rank holds a part of each weight: FSDP2, `fully_shard` a block, then the root; HSDP has several such copies.

Weights are gathered for a block's forward and backward pass and given back; gradients are summed, in float32, and
scattered. What is computed in which precision is autocast's affair, as under DDP.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from torch.nn.modules.batchnorm import _BatchNorm

from ups import distributed
from ups.errors import ConfigError
from ups.step.precision import Precision, dtype_of
from ups.strategies.admitted import copies
from ups.strategies.blocks import blocks_of, root_of
from ups.strategies.exchanges import Exchanges
from ups.strategies.single import Single


class Sharded(Single):
    """fully_shard over a mesh of (copies, ranks of a copy)."""

    def _wrap(self) -> nn.Module:
        if not hasattr(FSDPModule, "reset_iter_state"):
            raise ConfigError(
                f"training.strategy={self.training.strategy} needs torch 2.13 or newer, this is {torch.__version__}",
                hint="training.strategy=ddp",
            )
        scalars = [name for name, one in self.module.named_parameters() if not one.ndim]
        if scalars:
            raise ConfigError(
                f"parameter {scalars[0]} is a single number, which cannot be sharded",
                hint="give it the shape (1,), or training.strategy=ddp",
            )
        self.copies, across = copies(self.training, self.world.size)
        sizes = {"copy": self.copies, "shard": across} if self.copies > 1 else {"shard": across}
        mesh = distributed.mesh(self.world.device, sizes)
        self._replicas = mesh.get_group("copy") if self.copies > 1 else None
        # Sums below, not means: what one process would have summed, on every backend alike.
        self.options: dict[str, Any] = {
            "mesh": mesh,
            "offload_policy": CPUOffloadPolicy() if self.training.cpu_offload else OffloadPolicy(),
        }
        self.root, self.average_root = root_of(self.module), root_of(self.average)
        units = self._shard(self.root)
        self._shard(self.average_root)
        self.exchanges = Exchanges(units, self._replicas)
        return self.module

    def _shard(self, root: nn.Module) -> list[FSDPModule]:
        for block in blocks_of(root):
            kept = self.training.reshard_after_forward
            fully_shard(block, reshard_after_forward=kept, mp_policy=self._precision(block), **self.options)
        fully_shard(root, mp_policy=self._precision(root), **self.options)
        units: list[FSDPModule] = [part for part in root.modules() if isinstance(part, FSDPModule)]
        for unit in units:
            unit.set_force_sum_reduction_for_comms(True)
            unit.set_gradient_divide_factor(1.0)
        return units

    def _precision(self, unit: nn.Module) -> MixedPrecisionPolicy:
        """Weights travel in the precision that autocast computes in, where its norms take such weights: on GPUs."""
        low = dtype_of(self.training.precision)
        mixed = self.world.device.type == "cpu" or any(isinstance(part, _BatchNorm) for part in unit.modules())
        if low is None or mixed:
            return MixedPrecisionPolicy(cast_forward_inputs=False)
        return MixedPrecisionPolicy(param_dtype=low, reduce_dtype=torch.float32, cast_forward_inputs=False)

    def rehearse(self, batch: Callable[[], Any], precision: Precision) -> None:
        """See Single."""
        self.module.eval()  # nothing is drawn and no statistics are taken
        self.exchanges.begin(1)
        self.exchanges.piece_begins(0)
        self.try_out(batch(), precision)
        self.exchanges.ended()
        self.module.train()

    @contextlib.contextmanager
    def synchronising(self, last: bool) -> Iterator[None]:
        """See Single."""
        self.root.set_requires_gradient_sync(last)  # type: ignore[operator]
        yield

    def begin(self, pieces: int) -> None:
        """See Single."""
        self.exchanges.begin(pieces)

    def forward_begins(self, piece: int) -> None:
        """See Single."""
        self.exchanges.piece_begins(piece)

    def ended(self) -> None:
        """See Single."""
        self.exchanges.ended()

    def withdraw(self) -> None:
        """See Single."""
        self.root.reset_iter_state()  # type: ignore[operator]
        for unit in self.exchanges.units:
            forget_gradients(unit)
        self.root.set_requires_gradient_sync(True)  # type: ignore[operator]
        self.exchanges.finish()
        for one in self.weights:  # whatever was exchanged: the norm, which all ranks make next, tells them
            one.grad = torch.full_like(one, math.nan)

    def fail_in_forward(self, fail: Callable[[], None]) -> bool:
        """See Single."""
        self.exchanges.fail_at = "gather", fail
        return True

    def fail_in_backward(self, fail: Callable[[], None]) -> None:
        """See Single."""
        self.exchanges.fail_at = "reduce", fail

    def clip(self, largest: float, scale: float) -> Tensor:
        """See Single."""
        local = [_local(one.grad) for one in self.weights if one.grad is not None]
        if scale != 1:
            torch._foreach_mul_(local, 1 / scale)
        norms = torch.stack([norm.float() for norm in torch._foreach_norm(local)]).to(self.world.device)
        squares = norms.double().square().sum()
        dist.all_reduce(squares)
        norm = (squares / self.copies).sqrt()
        if largest:
            torch._foreach_mul_(local, (largest / (norm + 1e-6)).clamp(max=1.0).to(local[0]))
        return norm

    def free(self, module: nn.Module) -> None:
        """See Single."""
        for part in module.modules():
            if isinstance(part, FSDPModule):
                part.reshard()


def forget_gradients(unit: FSDPModule) -> None:
    """Drops what a backward pass that failed has left in a unit's gathered weights: the reset of torch 2.13 keeps it.

    It would be added to the next gradient.
    """
    for group in unit._get_fsdp_state()._fsdp_param_groups:
        for one in group.fsdp_params:
            one.unsharded_accumulated_grad = None
            if hasattr(one, "_unsharded_param"):
                one._unsharded_param.grad = None


def _local(value: Any) -> Tensor:
    local: Tensor = getattr(value, "_local_tensor", value)
    return local
