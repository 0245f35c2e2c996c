"""The gradient of one global batch, whatever micro-batches each rank cuts its share into."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ups.data.loaders import Batch
from ups.distributed import World
from ups.drills import Drill
from ups.losses import at_least_float32
from ups.step.precision import Precision
from ups.strategies.single import Single


def accumulate_gradients(
    strategy: Single, batch: Batch, pieces: int, count: int, precision: Precision, drill: Drill | None = None
) -> Tensor:
    """Adds this rank's share of the gradient of (sum of losses / count), scaled; returns its sum of losses.

    All ranks cut their shares into equally many micro-batches, `pieces` at most: only the last one's gradients are
    exchanged, but a sharded model's weights are in each. `count` samples have all ranks together.
    """
    parts = cut(batch, pieces_of(pieces, count, strategy.world), -(-count // strategy.world.size))
    strategy.begin(len(parts))
    total = torch.zeros((), device=strategy.world.device)
    for piece, part in enumerate(parts):
        with strategy.synchronising(last=piece == len(parts) - 1):
            strategy.forward_begins(piece)
            if drill is not None:
                drill.before_forward(strategy)
            with precision.autocast():
                loss_B = strategy.forward(part)
            loss: Any = (at_least_float32(loss_B) * part["weight"]).sum()
            if drill is not None:
                loss = drill.before_backward(loss, strategy)
            strategy.backward_begins(piece)
            (loss * (precision.scale * strategy.share / count)).backward()
        total += loss.detach()
    return total


def pieces_of(most: int, count: int, world: World) -> int:
    """Returns in how many micro-batches, `most` at most, every rank makes a global batch of `count` samples."""
    share = -(-count // world.size)
    return -(-share // -(-share // most))


def cut(batch: Batch, pieces: int, share: int) -> list[Batch]:
    """Returns a rank's samples in so many micro-batches; `share` are the samples of the rank that has the most.

    One that would be empty holds a sample of weight 0.
    """
    if pieces == 1:
        return [batch]
    size = -(-share // pieces)
    starts = range(0, len(batch["weight"]), size)
    parts = [{name: value[start : start + size] for name, value in batch.items()} for start in starts]
    while len(parts) < pieces:
        filler = {name: value[:1] for name, value in batch.items()}
        parts.append({**filler, "weight": torch.zeros_like(filler["weight"])})
    return parts
