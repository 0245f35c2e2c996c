"""What it costs that a step may fail on any rank and ends alike on all of them.

    python tests/benchmarks/training/agreement_cost.py [--blocks 15] [--output FILE.json]

Two figures for each strategy: the microseconds of all the bookkeeping of one step, called by itself many times (the
share is that of a 5 ms step; goal: at most 1 %), and the ratio of whole steps with and without it, block by block in
turns. No collective is added by the agreement; under fsdp2 the gradient norm's is the one that carries it.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STEPS = 4  # of one block
CALLS = 3000
STEP_S = 5e-3


def rank_main(strategy: str, blocks: int, result: Path) -> None:
    import torch
    from torch import distributed as dist
    from torch import nn

    from ups import distributed
    from ups.config import OperatorConfig, TrainingConfig
    from ups.losses import mse
    from ups.models import build_operator
    from ups.step.accumulate import accumulate_gradients
    from ups.step.precision import Precision
    from ups.strategies.choice import strategy_of

    world = distributed.begin(backend="gloo", timeout_s=60)
    torch.set_num_threads(1)
    training = TrainingConfig(strategy=strategy)  # type: ignore[arg-type]

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.operator = build_operator(OperatorConfig(), latent_dim=32, token_grid=(32,), periodic=True)

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            return mse(self.operator(batch["z_in"], batch["cond"]), batch["z_out"])

    class Default:
        """torch's own exchanges."""

        def allocate(self, size: Any, *, dtype: Any, device: Any) -> torch.Tensor:
            return torch.empty(*size, dtype=dtype, device=device)

    class Gather(Default):
        def __call__(self, output_tensor: Any, input_tensor: Any, group: Any, async_op: bool = False) -> Any:
            return dist.all_gather_single(output_tensor, input_tensor, group=group, async_op=async_op)

    class Reduce(Default):
        def __call__(self, output_tensor: Any, input_tensor: Any, group: Any, op: Any, async_op: bool = False) -> Any:
            return dist.reduce_scatter_single(output_tensor, input_tensor, op=op, group=group, async_op=async_op)

    samples = 8
    batch = {
        "z_in": torch.randn(samples, 32, 32),
        "z_out": torch.randn(samples, 32, 32),
        "cond": torch.zeros(samples, 3),
    }
    weighted = {**batch, "weight": torch.ones(samples)}
    ours, bare = (strategy_of(Step(), training, world) for _ in range(2))
    precision = Precision(training, world.device)
    ours.rehearse(lambda: batch, precision)
    exchanges: Any = getattr(ours, "exchanges", None)
    if exchanges is not None:
        for unit in bare.exchanges.units:  # type: ignore[attr-defined]
            unit.set_custom_all_gather(Gather())
            unit.set_custom_reduce_scatter(Reduce())

    def agreed() -> None:
        for _ in range(STEPS):
            ours.begin(1)
            accumulate_gradients(ours, weighted, 1, samples * world.size, precision)
            norm = ours.clip(1.0, 1.0)
            assert math.isfinite(norm)
            ours.ended()
            ours.module.zero_grad(set_to_none=True)

    def alone() -> None:
        for _ in range(STEPS):
            loss_B = bare.forward(batch)
            torch.autograd.backward(loss_B.sum() * (bare.share / (samples * world.size)))
            bare.clip(1.0, 1.0)
            bare.module.zero_grad(set_to_none=True)

    def seconds(block: Any) -> float:
        distributed.barrier(world)
        began = time.perf_counter()
        block()
        distributed.barrier(world)
        return (time.perf_counter() - began) / STEPS

    for block in (agreed, alone):
        seconds(block)
    pairs = []
    for number in range(blocks):
        first, second = (agreed, alone) if number % 2 else (alone, agreed)
        times = {block: seconds(block) for block in (first, second)}
        pairs.append((times[agreed], times[alone]))

    made = list(exchanges.order) if exchanges is not None else []
    norm = torch.ones(())

    def bookkeeping() -> None:
        ours.begin(1)
        ours.forward_begins(0)
        ours.backward_begins(0)
        for what, unit in made:
            exchanges.about_to(what)
            exchanges.made(what, unit)
        math.isfinite(norm)
        ours.ended()
        precision.stepped()

    took = []
    for _ in range(10):
        began = time.perf_counter()
        for _ in range(CALLS // 10):
            bookkeeping()
        took.append((time.perf_counter() - began) / (CALLS // 10))
    if world.is_first:
        ratios = sorted(one / other for one, other in pairs)
        answer = {
            "strategy": strategy,
            "ranks": world.size,
            "exchanges_per_step": len(made) or None,
            "bookkeeping_us": 1e6 * statistics.median(took),
            "share_of_5_ms": statistics.median(took) / STEP_S,
            "with_ms": 1e3 * statistics.median(one for one, _ in pairs),
            "without_ms": 1e3 * statistics.median(other for _, other in pairs),
            "ratio_median": statistics.median(ratios),
            "ratio_quartiles": [ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]],
        }
        result.write_text(json.dumps(answer))
    distributed.barrier(world)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--as-rank", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        rank_main(options.as_rank[0], options.blocks, Path(options.as_rank[1]))
        from ups import distributed

        distributed.end()
        return
    from ups.launch.elastic import launch

    answers = []
    for strategy in ("ddp", "fsdp2"):
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            ended = launch([__file__, "--as-rank", strategy, str(result), "--blocks", str(options.blocks)], 2)
            if ended.stopped_by or any(one.exit_code for one in ended.ended):
                sys.exit(f"the ranks ended with {[one.exit_code for one in ended.ended]}")
            answers.append(json.loads(result.read_text()))
    text = json.dumps({"benchmark": "agreement_cost", "goal": 0.01, "results": answers}, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
