"""One rank of the agreement test: python agreement_rank.py FILE STRATEGY eager|compiled.

Rank 1 fails in each way, one step after the other.

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
from torch._dynamo.backends.registry import set_default_backend
from torch.distributed.tensor import DTensor

from ups import distributed
from ups.agreement import Agreement, Failure, Trouble, failure_of
from ups.config import StageConfig, TrainingConfig
from ups.drills import Drill
from ups.errors import AgreedError
from ups.step.accumulate import accumulate_gradients
from ups.step.precision import Precision
from ups.strategies.choice import strategy_of
from ups.strategies.single import Single

SAMPLES = 8  # of one rank
STRATEGY, COMPILED = sys.argv[2], sys.argv[3] == "compiled"

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


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(32, 32), nn.BatchNorm1d(16), nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(self.norm(self.first(x).unflatten(1, (16, 2))).flatten(1).relu())


class Loss(nn.Module):
    """Its buffers are exchanged, too, and so are its blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.lift, self.lower = nn.Linear(7, 32), nn.Linear(32, 3)
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        x = self.lift(batch["x"])
        for block in self.blocks:
            x = block(x)
        return self.lower(x).square().sum(1)


class Notes(list[tuple[str, int]]):
    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        self.append((kind, int(next(iter(values.values())))))


def step(world: distributed.World, strategy: str, kind: str, phase: str, pieces: int, times: int) -> dict[str, object]:
    """One step with one failure on rank 1, and one without any after it; what was agreed on."""
    torch.manual_seed(3)
    module, notes, training = (
        Loss(),
        Notes(),
        TrainingConfig(strategy=strategy, shard_ranks=2, compile=COMPILED and "blocks"),
    )  # type: ignore[arg-type]
    shared, precision = strategy_of(module, training, world), Precision(training, world.device)
    batch = {"x": torch.randn(SAMPLES, 7), "weight": torch.ones(SAMPLES)}
    shared.rehearse(lambda: {name: value[:1] for name, value in batch.items()}, precision)
    agreement = Agreement(world, "operator", StageConfig(batch_size=SAMPLES * world.size, accumulate=pieces), 1, notes)
    drill = Drill(kind, 1, 0, phase, "operator", times, now=0) if world.rank == 1 else None
    taken = [one_step(shared, batch, agreement, precision, drill, phase)]
    norm = float(sum(one.square().sum() for one in gradients(shared)))
    shared.module.zero_grad(set_to_none=True)
    again = one_step(shared, batch, agreement, precision, None, phase)
    sums = distributed.on_all_ranks([norm, float(sum(one.square().sum() for one in gradients(shared)))], world)
    return {"taken": taken[0], "notes": list(notes), "alike": sums[0] == sums[1], "goes on": again}


def gradients(shared: Single) -> list[torch.Tensor]:
    """Returns the whole gradients."""
    found = [one.grad for one in shared.weights if one.grad is not None]
    return [one.full_tensor() if isinstance(one, DTensor) else one for one in found]


def one_step(
    shared: Single,
    batch: dict[str, torch.Tensor],
    agreement: Agreement,
    precision: Precision,
    drill: Drill | None,
    phase: str,
) -> bool:
    """What the loop does about a step: it is made, or left out."""
    while True:
        loss, failure = torch.full((), math.nan), None
        shared.begin(agreement.pieces)
        try:
            if drill is not None and phase == "loader":
                drill.load(0)
            loss = accumulate_gradients(shared, batch, agreement.pieces, SAMPLES * shared.world.size, precision, drill)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
        if failure is not None:
            shared.withdraw()
        norm = shared.clip(1.0, 1.0)
        if failure is None and math.isfinite(norm):
            return True
        shared.module.zero_grad(set_to_none=True)
        if not agreement.try_again(failure, loss, norm, 0, "here"):
            return False


if __name__ == "__main__":
    if COMPILED:
        set_default_backend("aot_eager")  # all of torch.compile but the minutes of C++
    world = distributed.begin(backend="gloo", timeout_s=30)
    found: dict[str, object] = {name: step(world, STRATEGY, *way) for name, way in WAYS.items()}
    try:
        Agreement(world, "operator", StageConfig(), 9, Notes()).try_again(
            Failure(Trouble.OPTIMIZER, "x") if world.rank == 1 else None,
            torch.ones(()),
            torch.tensor(math.nan),
            0,
            "here",
        )
    except AgreedError as error:
        found["stopped"] = error.message
    if world.is_first:
        Path(sys.argv[1]).write_text(json.dumps(found))
    distributed.end()
