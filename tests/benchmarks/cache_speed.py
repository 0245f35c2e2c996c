"""Epoch time of the operator stage with the latent cache, on disk and on a RAM disk, against encoding on the fly.

    python tests/benchmarks/cache_speed.py [--scale NAME]... [--epochs 3] [--workers 0 2 4 8] [--output FILE.json]

Two scales, both stated in the JSON with all their settings:

    quickstart   configs/quickstart.yaml as it is: 128 cells, patch 8, a small encoder
    pdebench     PDEBench's own resolution: 1024 cells, patch 32, an encoder of 256 channels and 4 blocks

Whole epochs of the real loop on real files, forward, backward and step included; the three sides take turns,
epoch by epoch, in one process. The files are warm: `ram_disk` shows what a copy in memory adds to the page
cache. `epoch` is what a user waits for. `latents` is the part that the cache can change, reading and encoding
alone: the operator's own step is the same on all sides, and where it is the larger part (quickstart), no cache
makes an epoch 4 times faster. Goal: 4 times, of `epoch`. `best_of_all` asks what a user gains who sets workers
as it suits each side: the fastest epoch on the fly against the fastest from the cache on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ups.cache_build import ensure_cache
from ups.config import UpsConfig, load_config
from ups.data import ram_disk
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


SIDES = ("disk", "ram_disk", "on_the_fly")


def loop_of(config: UpsConfig, material: Material, state: Any, side: str, copy: Path) -> Loop:
    if side == "ram_disk":
        config = replace(config, cache=replace(config.cache, dir=copy))
    stage = operator.Stage(config, torch.device("cpu"), material, autoencoder=state, cached=side != "on_the_fly")
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


def compared(loops: dict[str, Loop], epochs: int, *, train: bool) -> dict[str, float]:
    """Returns seconds of the sides in turn, the order swapped each time."""
    for loop in loops.values():
        epoch_seconds(loop, 0, train=False)  # warm up, workers started
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    for epoch in range(1, epochs + 1):
        for side in SIDES[:: 1 if epoch % 2 else -1]:
            seconds[side].append(epoch_seconds(loops[side], epoch, train=train))
    answer = {f"{side}_s_min": min(values) for side, values in seconds.items()}
    for side in ("disk", "ram_disk"):
        pairs = zip(seconds[side], seconds["on_the_fly"], strict=True)
        answer[f"{side}_speedup_median_of_pairs"] = statistics.median(other / one for one, other in pairs)
        answer[f"{side}_speedup_of_minima"] = min(seconds["on_the_fly"]) / min(seconds[side])
    return answer


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
            copy = ram_disk.attach(config.cache_dir, "auto", print)
            loops = {side: loop_of(config, material, state, side, copy.folder) for side in SIDES}
            both = {name: compared(loops, epochs, train=name == "epoch") for name in ("epoch", "latents")}
            where = {"ram_disk": str(copy.folder.parent.parent), "ram_disk_is_one": copy.lock >= 0}
            results.append({"workers": workers, "cache_built_s": built_s, **where, **both})
            pairs = len(loops["disk"].stage.train_dataset)  # type: ignore[arg-type]
            loops.clear()  # their workers end
            copy.close()
        settings = {part: asdict(getattr(config, part)) for part in ("latent", "operator")}
        made = {"cells": material.spec.grid[0], "frames": material.spec.frames, "samples": material.spec.samples}
        batch = config.stages.operator.batch_size
        return {"scale": scale, "settings": settings | made | {"pairs": pairs, "batch_size": batch}, "results": results}


def best_of_all(results: list[dict[str, Any]]) -> float:
    """Returns the fastest epoch on the fly over the fastest epoch from the cache on disk, workers chosen freely."""
    fastest = {side: min(row["epoch"][f"{side}_s_min"] for row in results) for side in SIDES}
    return fastest["on_the_fly"] / fastest["disk"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", action="append", choices=SCALES, help="may be repeated; default: all")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2, 4, 8])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    scales = [measure(scale, options.epochs, options.workers) for scale in options.scale or SCALES]
    fastest = {one["scale"]: best_of_all(one["results"]) for one in scales}
    answer = {
        "benchmark": "cache_speed",
        "goal": 4.0,
        "reached": {scale: best >= 4.0 for scale, best in fastest.items()},
        "best_of_all": fastest,
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
