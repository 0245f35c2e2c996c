"""The exponential moving average of a model's weights: what is validated and saved as the best model."""

from __future__ import annotations

import torch
from torch import nn

from ups.strategies.state import load_full


class Ema:
    """A second module, `average`, that follows `module`, on each rank the part that it holds.

    A decay of 0 makes it an exact copy after each update.

    Early on the average is warmed up, min(decay, (1 + n) / (10 + n)) after n updates, so that the random
    start is forgotten. Source: the schedule of tf.train.ExponentialMovingAverage.
    """

    def __init__(self, module: nn.Module, average: nn.Module, decay: float) -> None:
        self.module = average
        self.decay, self.updates = decay, 0
        self._pairs = _floats(self.module), _floats(module)
        self._others = _others(self.module), _others(module)

    @torch.no_grad()
    def update(self) -> None:
        """Moves the average towards the module by 1 - decay; counters and masks are copied."""
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        self.updates += 1
        average, current = self._pairs
        torch._foreach_lerp_(average, current, 1 - decay)
        for kept, new in zip(*self._others, strict=True):
            kept.copy_(new)

    def state(self) -> dict[str, object]:
        """Returns what `load_state` takes."""
        return {"module": self.module.state_dict(), "updates": self.updates}

    def load_state(self, state: dict[str, object]) -> None:
        """Goes on where `state` was taken."""
        load_full(self.module, state["module"])  # type: ignore[arg-type]
        self.updates = int(state["updates"])  # type: ignore[call-overload]


def _floats(module: nn.Module) -> list[torch.Tensor]:
    return [value for value in _of_this_rank(module) if value.is_floating_point()]


def _others(module: nn.Module) -> list[torch.Tensor]:
    return [value for value in _of_this_rank(module) if not value.is_floating_point()]


def _of_this_rank(module: nn.Module) -> list[torch.Tensor]:
    """Returns what this rank holds of each weight and buffer: the shard, where the module is sharded."""
    return [getattr(value, "_local_tensor", value) for value in module.state_dict(keep_vars=True).values()]
