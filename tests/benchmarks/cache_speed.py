"""Epoch time of the operator stage with the latent cache against encoding on the fly, workers 0, 2 and 4.

    python tests/benchmarks/cache_speed.py [--scale NAME]... [--epochs 3] [--workers 0 2 4] [--output FILE.json]

Two scales, both stated in the JSON with all their settings:

    quickstart   configs/quickstart.yaml as it is: 128 cells, patch 8, a small encoder
    pdebench     PDEBench's own resolution: 1024 cells, patch 32, an encoder of 256 channels and 4 blocks

Whole epochs of the real loop on real files, forward, backward and step included; both sides take turns,
epoch by epoch, in one process. `epoch` is what a user waits for. `latents` is the part that the cache can
change, reading and encoding alone: the operator's own step is the same on both sides, and where it is
the larger part (quickstart), no cache makes an epoch 4 times faster. Goal: 4 times, of `epoch`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ups.cache_build import ensure_cache
from ups.config import UpsConfig, load_config
from ups.data.fields import data_file
from ups.data.generate import generate
from ups.data.loaders import batches
from ups.data.recipe import recipe_for
from ups.distributed import alone
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import autoencoder, operator
from ups.stages.material import Material, gather
from ups.train import Loop, Surroundings

QUICKSTART = Path(__file__).resolve().parents[2] / "configs" / "quickstart.yaml"
SCALES: dict[str, list[str]] = {
    "quickstart": ["data.generate.samples=64"],
    "pdebench": [
        "data.generate.samples=16",
        "data.generate.resolution=1024",
        "latent.patch=32",
        "latent.hidden_dim=256",
        "latent.depth=4",
    ],
}


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


def compared(loops: dict[bool, Loop], epochs: int, *, train: bool) -> dict[str, float]:
    """Returns seconds of both sides in turn, the order swapped each time."""
    for loop in loops.values():
        epoch_seconds(loop, 0, train=False)  # warm up, workers started
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for epoch in range(1, epochs + 1):
        for cached in (True, False) if epoch % 2 else (False, True):
            seconds[cached].append(epoch_seconds(loops[cached], epoch, train=train))
    pairs = list(zip(seconds[True], seconds[False], strict=True))
    return {
        "cached_s_min": min(seconds[True]),
        "on_the_fly_s_min": min(seconds[False]),
        "speedup_median_of_pairs": statistics.median(other / one for one, other in pairs),
        "speedup_of_minima": min(seconds[False]) / min(seconds[True]),
    }


def measure(scale: str, epochs: int, all_workers: list[int]) -> dict[str, Any]:
    """Returns the results of one scale, by number of workers."""
    with tempfile.TemporaryDirectory() as folder:
        places = [f"data.root={folder}/data", f"output.dir={folder}/run", f"cache.dir={folder}/cache"]
        data = load_config(QUICKSTART, [*SCALES[scale], *places]).data
        generate(recipe_for(data), data_file(data))
        results = []
        for workers in all_workers:
            config = load_config(QUICKSTART, [*SCALES[scale], *places, f"training.workers={workers}"])
            material = gather(config, lambda compute: compute())
            torch.manual_seed(config.seed)
            stage = autoencoder.Stage(config, torch.device("cpu"), material)
            state = stage.finish(stage.build())["autoencoder"]  # untrained: it costs the same
            began = time.perf_counter()
            ensure_cache(config, material, state, alone(), rebuild=True)
            built_s = time.perf_counter() - began
            loops = {cached: loop_of(config, material, state, cached=cached) for cached in (True, False)}
            both = {name: compared(loops, epochs, train=name == "epoch") for name in ("epoch", "latents")}
            results.append({"workers": workers, "cache_built_s": built_s, **both})
            pairs = len(loops[True].stage.train_dataset)  # type: ignore[arg-type]
        settings = {part: asdict(getattr(config, part)) for part in ("latent", "operator")}
        made = {"cells": material.spec.grid[0], "frames": material.spec.frames, "samples": material.spec.samples}
        batch = config.stages.operator.batch_size
        return {"scale": scale, "settings": settings | made | {"pairs": pairs, "batch_size": batch}, "results": results}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", action="append", choices=SCALES, help="may be repeated; default: all")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2, 4])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    scales = [measure(scale, options.epochs, options.workers) for scale in options.scale or SCALES]
    fastest = {one["scale"]: max(row["epoch"]["speedup_median_of_pairs"] for row in one["results"]) for one in scales}
    answer = {
        "benchmark": "cache_speed",
        "goal": 4.0,
        "reached": {scale: best >= 4.0 for scale, best in fastest.items()},
        "best_epoch_speedup": fastest,
        "cores": os.cpu_count(),
        "load_average_1min": os.getloadavg()[0],
        "scales": scales,
    }
    text = json.dumps(answer, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
