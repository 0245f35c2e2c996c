"""Which strategy a configuration means on so many ranks."""

from __future__ import annotations

from torch import nn

from ups.config import TrainingConfig
from ups.distributed import World
from ups.errors import ConfigError
from ups.strategies.single import Single


def strategy_of(module: nn.Module, training: TrainingConfig, world: World) -> Single:
    """Returns the module, on its device already, as the ranks share it; one rank trains it as it is."""
    if world.size == 1:
        return Single(module, training, world)
    if training.strategy == "none":
        raise ConfigError(
            f"training.strategy=none trains on one rank, and there are {world.size}", hint="training.strategy=ddp"
        )
    if training.strategy == "ddp":
        from ups.strategies.ddp import Replicated

        return Replicated(module, training, world)
    from ups.strategies.sharded import Sharded

    return Sharded(module, training, world)
