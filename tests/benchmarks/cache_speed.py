"""Epoch time of the operator stage with the latent cache against encoding on the fly, workers 0, 2 and 4.

    python tests/benchmarks/cache_speed.py [CONFIG] [--set K=V]... [--epochs 3] [--workers 0 2 4] [--output FILE.json]

CONFIG's data file must exist. Takes turns, epoch by epoch, in one process: read, (encode,) forward,
backward, step, on the real data, models and loaders. Also reported: what the loader and encoder alone take,
since the operator's own step is the same on both sides and hides part of the gain. Goal: 4 times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from ups.cache_build import ensure_cache
from ups.config import UpsConfig, load_config
from ups.data.loaders import batches
from ups.distributed import alone
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import autoencoder, operator
from ups.stages.material import Material, gather
from ups.train import Loop, Surroundings


def loop_of(config: UpsConfig, material: Material, state: Any, *, cached: bool) -> Loop:
    stage = operator.Stage(config, torch.device("cpu"), material, autoencoder=state, cached=cached)
    around = Surroundings(RunFolder(config.output.dir), (), Display(shown=False), {})
    loop = Loop(stage, config, alone(), around, None)
    loop.wrapped.train()
    return loop


def epoch_seconds(loop: Loop, epoch: int, *, train: bool) -> float:
    """Returns the seconds of one epoch; without `train` latents are only fetched (and encoded)."""
    began = time.perf_counter()
    loop.sampler.set_epoch(epoch)
    for number, batch in enumerate(batches(loop.loader)):
        loop.position.batch = number
        if train:
            loop._step(batch)
        else:
            loop.module.encoder.pair(batch)  # type: ignore[operator,union-attr]
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path, nargs="?", default=Path("configs/quickstart.yaml"))
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2, 4])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for workers in options.workers:
            overrides = [f"output.dir={folder}/run", f"cache.dir={folder}/cache", f"training.workers={workers}"]
            config = load_config(options.config, [*options.overrides, *overrides])
            material = gather(config, lambda compute: compute())
            torch.manual_seed(config.seed)
            stage = autoencoder.Stage(config, torch.device("cpu"), material)
            state = stage.finish(stage.build())["autoencoder"]  # untrained: it costs the same
            ensure_cache(config, material, state, alone(), rebuild=True)
            loops = {cached: loop_of(config, material, state, cached=cached) for cached in (True, False)}
            for train in (True, False):
                for loop in loops.values():
                    epoch_seconds(loop, 0, train=False)  # warm up, workers started
                pairs = [
                    [epoch_seconds(loops[cached], epoch, train=train) for cached in (True, False)]
                    for epoch in range(1, options.epochs + 1)
                ]
                results.append(
                    {
                        "workers": workers,
                        "what": "whole epoch" if train else "latents only",
                        "cached_s": statistics.median(one for one, _ in pairs),
                        "on_the_fly_s": statistics.median(other for _, other in pairs),
                        "speedup_median": statistics.median(other / one for one, other in pairs),
                    }
                )
    pairs_per_epoch = len(loops[True].stage.train_dataset)  # type: ignore[arg-type]
    answer = {"benchmark": "cache_speed", "config": str(options.config), "pairs": pairs_per_epoch, "results": results}
    text = json.dumps(answer | {"goal": 4.0}, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
