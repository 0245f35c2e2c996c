"""One rank of the agreement test: python agreement_rank.py FILE. Rank 1 fails in each way, one step after the other.

Rank 0 writes, for each way, what was agreed on, whether all ranks then hold the same weights, and how many operations
of the group each rank has made: none may be left over.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn

from ups import distributed
from ups.agreement import Agreement, Exchange, Failure, Trouble, failure_of
from ups.config import StageConfig
from ups.drills import Drill
from ups.errors import AgreedError
from ups.train import accumulate_gradients, wrap

# Kind, phase, pieces of the batch; `times` is how often it fails.
WAYS = {
    "forward": ("memory", "forward", 1, 1),
    "forward of pieces": ("memory", "forward", 4, 1),
    "backward": ("memory", "backward", 1, 1),
    "backward of pieces": ("memory", "backward", 4, 1),
    "a loss that is not finite": ("nan", "forward", 1, 1),
    "a batch": ("batch", "loader", 1, 1),
    "until one sample is left": ("memory", "forward", 1, 9),
    "nothing": ("memory", "forward", 1, 0),
}


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        parts = nn.Linear(7, 32), nn.Unflatten(1, (16, 2)), nn.BatchNorm1d(16), nn.Flatten(), nn.Linear(32, 3)
        self.net = nn.Sequential(*parts)  # its buffers are exchanged, too

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.net(batch["x"]).square().sum(1)


class Notes(list[tuple[str, int]]):
    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        self.append((kind, int(next(iter(values.values())))))


def step(world: distributed.World, kind: str, phase: str, pieces: int, times: int) -> dict[str, object]:
    """One step with one failure on rank 1; what was agreed on."""
    torch.manual_seed(3)
    module = Loss()
    wrapped, weights = wrap(module, world), list(module.parameters())
    notes = Notes()
    settings = StageConfig(batch_size=16, accumulate=pieces)
    agreement, exchange = Agreement(world, "operator", settings, 1, notes), Exchange(module, wrapped)
    drill = Drill(kind, 1, 0, phase, "operator", times, now=0) if world.rank == 1 else None
    batch = {"x": torch.randn(8, 7), "weight": torch.ones(8)}
    taken = True
    while True:
        exchange.begin()
        loss, failure = torch.full((), math.nan), None
        try:
            if drill is not None and phase == "loader":
                drill.load(0)
            loss = accumulate_gradients(
                wrapped, wrapped, batch, agreement.pieces, 16, world, "float32", exchange, drill
            )  # fmt: skip
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            exchange.withdraw()
        norm = nn.utils.clip_grad_norm_(weights, 1.0)
        if failure is None and math.isfinite(norm):
            break
        module.zero_grad(set_to_none=True)
        if not agreement.try_again(failure, loss, norm, 0, "here"):
            taken = False
            break
    sums = distributed.on_all_ranks(sum(float(one.grad.sum()) for one in weights if one.grad is not None), world)
    return {"taken": taken, "notes": list(notes), "alike": len(set(sums)) == 1}


if __name__ == "__main__":
    world = distributed.begin(backend="gloo", timeout_s=30)
    found: dict[str, object] = {name: step(world, *way) for name, way in WAYS.items()}
    try:
        Agreement(world, "operator", StageConfig(), 9, Notes()).try_again(
            Failure(Trouble.OPTIMIZER, "x") if world.rank else None, torch.ones(()), torch.tensor(math.nan), 0, "here"
        )
    except AgreedError as error:
        found["stopped"] = error.message
    if world.is_first:
        Path(sys.argv[1]).write_text(json.dumps(found))
    distributed.end()
