"""What a training step of ups costs beside a bare loop with the same model, data and optimizer.

    python tests/benchmarks/step_cost.py [--ranks 2] [--blocks 15] [--output FILE.json]

Both loops live in the same process and take turns, block by block, so that a machine that slows down slows
both. The ups side does all it does in a run: sampler, weights, global loss, clipping, learning rate, EMA, finite
check, meters, metrics; the bare side is forward, mean, backward, clip, step. Goal: ratio at most 1.03.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STEPS = 4  # of one block


def rank_main(blocks: int, result: Path) -> None:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset, DistributedSampler

    from ups import distributed
    from ups.config import DataConfig, StageConfig, StagesConfig, UpsConfig
    from ups.data.loaders import batches
    from ups.losses import mse
    from ups.models import build_operator
    from ups.progress import Display
    from ups.run_folder import RunFolder
    from ups.schedule import make_optimizer
    from ups.strategies.choice import strategy_of
    from ups.train import Loop, Surroundings

    world = distributed.begin(backend="gloo", timeout_s=60)
    torch.set_num_threads(1)
    config = UpsConfig(data=DataConfig(task="advection1d"), stages=StagesConfig(operator=StageConfig(epochs=10**6)))
    settings = config.stages.operator

    class Latents(Dataset[dict[str, Any]]):
        """As many pairs as 100 trajectories of 41 frames have, in memory."""

        def __init__(self) -> None:
            self.z = torch.randn(4000, 2, 32, config.latent.dim, generator=torch.Generator().manual_seed(1))

        def __len__(self) -> int:
            return len(self.z)

        def __getitem__(self, index: int) -> dict[str, Any]:
            z_in, z_out = self.z[index]
            return {"z_in": z_in, "z_out": z_out, "cond": torch.zeros(3)}

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.operator = build_operator(
                config.operator, latent_dim=config.latent.dim, token_grid=(32,), periodic=True
            )

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            return mse(self.operator(batch["z_in"], batch["cond"]), batch["z_out"])

    class Stage:
        NAME = "operator"
        train_dataset = validation_dataset = Latents()

        def build(self) -> nn.Module:
            return Step()

    around = Surroundings(RunFolder(Path(tempfile.mkdtemp())), (), Display(shown=False), {})
    loop = Loop(Stage(), config, world, around, None)  # type: ignore[arg-type]
    loop.module.train()

    def ups_batches() -> Iterator[Any]:
        while True:
            loop.sampler.set_epoch(loop.position.epoch, loop.position.batch)
            yield from batches(loop.loader)
            loop.position.epoch, loop.position.batch = loop.position.epoch + 1, 0

    module = Step()
    bare, optimizer = strategy_of(module, config.training, world).wrapped, make_optimizer(module, settings)
    sampler = DistributedSampler(Latents(), world.size, world.rank)
    loader = DataLoader(Latents(), settings.batch_size // world.size, sampler=sampler)
    bare.train()

    def bare_batches() -> Iterator[Any]:
        while True:
            yield from loader

    ours, theirs = ups_batches(), bare_batches()

    def ups_block() -> None:
        for _ in range(STEPS):
            loop._after_step(loop._step(next(ours)))

    def bare_block() -> None:
        for _ in range(STEPS):
            loss = bare(next(theirs)).mean()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), settings.grad_clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def seconds(block: Any) -> float:
        distributed.barrier(world)
        began = time.perf_counter()
        block()
        distributed.barrier(world)
        return (time.perf_counter() - began) / STEPS

    loop.config = UpsConfig(
        data=config.data,
        stages=config.stages,
        training=type(config.training)(checkpoint_every_steps=10**9),
    )
    for block in (ups_block, bare_block):
        seconds(block)  # warm up
    pairs = []
    for number in range(blocks):
        first, second = (ups_block, bare_block) if number % 2 else (bare_block, ups_block)
        times = {block: seconds(block) for block in (first, second)}
        pairs.append((times[ups_block], times[bare_block]))
    if world.is_first:
        ratios = sorted(one / other for one, other in pairs)
        answer = {
            "ranks": world.size,
            "blocks": blocks,
            "steps_per_block": STEPS,
            "ups_ms": 1e3 * statistics.median(one for one, _ in pairs),
            "bare_ms": 1e3 * statistics.median(other for _, other in pairs),
            "ups_ms_min": 1e3 * min(one for one, _ in pairs),
            "bare_ms_min": 1e3 * min(other for _, other in pairs),
            "ratio_median": statistics.median(ratios),
            "ratio_quartiles": [ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]],
            "ratio_of_minima": min(one for one, _ in pairs) / min(other for _, other in pairs),
            "goal": 1.03,
        }
        result.write_text(json.dumps(answer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--as-rank", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        rank_main(options.blocks, options.as_rank)
        from ups import distributed

        distributed.end()
        return
    from ups.launch.elastic import launch

    answers = []
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            ended = launch([__file__, "--as-rank", str(result), "--blocks", str(options.blocks)], ranks)
            if ended.stopped_by or any(one.exit_code for one in ended.ended):
                sys.exit(f"the ranks ended with {[one.exit_code for one in ended.ended]}")
            answers.append(json.loads(result.read_text()))
    text = json.dumps({"benchmark": "step_cost", "results": answers}, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
