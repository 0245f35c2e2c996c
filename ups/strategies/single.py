"""One rank by itself: nothing is exchanged. What the other strategies change of it says what they are."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ups.config import TrainingConfig
from ups.distributed import World
from ups.step.precision import Precision
from ups.strategies.blocks import blocks_of, recompute


class Single:
    """The module as it is.

    `forward` is what the loop calls, `average` a second module for the moving average, `weights` what is trained,
    `share` what a rank's sum of losses over the global count is multiplied by: the reduction may take a mean.
    """

    def __init__(self, module: nn.Module, training: TrainingConfig, world: World) -> None:
        self.module, self.world, self.training = module, world, training
        self.average = copy.deepcopy(module).requires_grad_(requires_grad=False).eval()
        self.share = 1.0
        self.blocks = blocks_of(module)
        if training.activation_checkpointing:
            for block in self.blocks:
                recompute(block)
        if training.compile == "blocks":
            for block in self.blocks or [module]:
                block.compile()
        self.wrapped = self._wrap()
        self.weights = [one for one in module.parameters() if one.requires_grad]
        self.forward: Callable[[Any], Tensor] = (
            torch.compile(self.wrapped) if training.compile is True else self.wrapped
        )

    def _wrap(self) -> nn.Module:
        return self.module

    def rehearse(self, batch: Callable[[], Any], precision: Precision) -> None:
        """Learns by one pass of a small batch in which order ranks exchange what; before there is an optimizer."""

    def try_out(self, batch: Any, precision: Precision) -> None:
        """Makes a forward and a backward pass that change nothing, uncompiled."""
        buffers = [one.clone() for one in self.module.buffers()]
        gpus = [self.world.device] if self.world.device.type == "cuda" else []
        with torch.compiler.set_stance("force_eager"), torch.random.fork_rng(devices=gpus):
            with precision.autocast():
                loss_B = self.wrapped(batch)
            torch.autograd.backward(loss_B.sum() * 0.0)
        for weight in self.weights:
            weight.grad = None
        for one, before in zip(self.module.buffers(), buffers, strict=True):
            one.copy_(before)

    def synchronising(self, last: bool) -> contextlib.AbstractContextManager[Any]:
        """A forward and backward pass of one micro-batch; gradients are exchanged in the last one of a step."""
        return contextlib.nullcontext()

    def begin(self, pieces: int) -> None:
        """A step of so many micro-batches begins: nothing was exchanged yet."""

    def forward_begins(self, piece: int) -> None:
        """The forward pass of a micro-batch begins."""

    def backward_begins(self, piece: int) -> None:
        """The backward pass of a micro-batch begins."""

    def ended(self) -> None:
        """All ranks have made the step that began."""

    def withdraw(self) -> None:
        """Hands over NaN for every gradient that the other ranks still wait for."""

    def fail_in_forward(self, fail: Callable[[], None]) -> bool:
        """Has the next forward pass call `fail` half way, for drills; returns False where it cannot."""
        return False

    def fail_in_backward(self, fail: Callable[[], None]) -> None:
        """Has the next backward pass call `fail` when a part of the gradients is there, for drills."""
        weights, armed = self.weights, [True]

        def once(gradient: Tensor) -> Tensor:
            if armed and armed.pop():
                fail()
            return gradient

        weights[len(weights) // 2].register_hook(once)  # type: ignore[no-untyped-call]

    def clip(self, largest: float, scale: float) -> Tensor:
        """Divides the gradients by `scale`, bounds their norm over all ranks (0: not), returns it as it was before."""
        if scale != 1:
            torch._foreach_mul_([one.grad for one in self.weights if one.grad is not None], 1 / scale)
        norm: Tensor = nn.utils.clip_grad_norm_(self.weights, largest or math.inf)
        return norm

    def free(self, module: nn.Module) -> None:
        """Gives back the memory of weights that were gathered for a module's forward passes."""
