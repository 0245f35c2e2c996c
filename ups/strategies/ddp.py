"""Every rank holds the whole model; gradients are averaged while the backward pass goes on (DDP)."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from ups.strategies.single import Single


class Replicated(Single):
    """DistributedDataParallel; a rank that fails answers in its one reduction of gradients with NaN."""

    wrapped: DistributedDataParallel

    def _wrap(self) -> nn.Module:
        self.share = float(self.world.size)
        # Buffers that forward never changes need no broadcast at every step; batch statistics do.
        changing = any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in self.module.modules())
        known = inspect.signature(DistributedDataParallel.__init__).parameters
        broadcast = "forward_sync_buffers" if "forward_sync_buffers" in known else "broadcast_buffers"  # torch < 2.13
        options: dict[str, Any] = {broadcast: changing, "gradient_as_bucket_view": True}
        if self.world.device.type == "cuda":
            options["device_ids"] = [self.world.local_rank]
        self.begin(1)
        return DistributedDataParallel(self.module, **options)

    def synchronising(self, last: bool) -> contextlib.AbstractContextManager[Any]:
        """See Single."""
        return contextlib.nullcontext() if last else self.wrapped.no_sync()

    def begin(self, pieces: int) -> None:
        """See Single."""
        self._last = pieces - 1
        self._forward = self._backward = False
        self._before: list[tuple[int, int]] = []

    def forward_begins(self, piece: int) -> None:
        """See Single."""
        self._forward = True

    def backward_begins(self, piece: int) -> None:
        """See Single."""
        if piece == self._last:
            self._backward = True
            self._before = [_mark(one) for one in self.weights] if piece else []

    def withdraw(self) -> None:
        """See Single."""
        if self._backward:
            before = self._before or [_NOTHING] * len(self.weights)
            left = [one for one, mark in zip(self.weights, before, strict=True) if _mark(one) == mark]
            if left:
                torch.autograd.backward(_not_a_number(left))
            return
        if self._forward:  # the first piece has exchanged the buffers; the pass below asks for it again next time
            self.wrapped.require_forward_param_sync = False
        self.module.forward = lambda *_, **__: _not_a_number(self.weights)
        try:
            torch.autograd.backward(self.wrapped(None))
        finally:
            del self.module.forward


_NOTHING = (0, 0)


def _mark(weight: nn.Parameter) -> tuple[int, int]:
    """Returns what tells one state of a gradient from the next one."""
    return (id(weight.grad), weight.grad._version) if weight.grad is not None else _NOTHING


def _not_a_number(weights: Sequence[nn.Parameter]) -> Tensor:
    total = torch.stack([one.sum().float() for one in weights]).sum()
    return total * math.nan
