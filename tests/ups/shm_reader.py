"""Reads a whole latent cache in random order by 8 workers: python shm_reader.py FOLDER LAYOUT BATCH; one JSON line.

The cache is larger than the /dev/shm it is meant to run in.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path

import numpy as np
import torch

from ups.config import TrainingConfig
from ups.data import latent_cache
from ups.data.field_spec import FieldSpec
from ups.data.latent_cache import LatentPairDataset
from ups.data.loaders import batches, collate_arrays, loader
from ups.data.sampler import GlobalBatchSampler

SAMPLES, FRAMES, TOKENS, CHANNELS = 100, 11, 1024, 32


def main(folder: Path, layout: str, batch: int) -> None:
    spec = FieldSpec(
        path=folder, task="advection1d", kind="trajectory", samples=SAMPLES, frames=FRAMES, grid=(8,),
        coordinates=(np.arange(8),), times=np.arange(float(FRAMES)), periodic=True, parameters={"beta": 1.0},
    )  # fmt: skip
    shape = [SAMPLES, FRAMES, TOKENS, CHANNELS]
    manifest = {"format": 2, "layout": layout, "dtype": "float32", "shapes": {"train_u": shape},
                "splits": {"train": list(range(SAMPLES))}}  # fmt: skip
    temporary = latent_cache.reserve(folder / "cache", manifest)
    kind, arrays = latent_cache.layout_of(manifest)
    for sample in range(SAMPLES):
        kind.write(temporary, arrays["train_u"], sample, np.full(shape[1:], sample, np.float32))
    latent_cache.publish(temporary, folder / "cache", manifest)

    dataset = LatentPairDataset(folder / "cache", "train", spec)
    sampler = GlobalBatchSampler(len(dataset), batch, 0, 1, 0, shuffle=True)
    source = loader(dataset, sampler, TrainingConfig(workers=8, prefetch=2))
    by_pipe = source.collate_fn is collate_arrays
    first, _, _ = epoch(source)
    sampler.set_epoch(1)
    second, items, peak = epoch(source)
    grown = max(after - before for after, before in zip(second, first, strict=True))
    size = os.statvfs("/dev/shm")  # noqa: S108 - what is tested
    told = {"items": items, "by_pipe": by_pipe, "cache_mb": np.prod(shape) * 4 / 2**20, "grown_mb": grown / 2**20}
    print(json.dumps(told | {"shm_mb": size.f_blocks * size.f_frsize / 2**20, "shm_peak_mb": peak / 2**20}))


def epoch(source: object) -> tuple[list[int], int, int]:
    """Returns the memory of each worker that no file stands behind, the items read, and the most of /dev/shm used."""
    items = peak = 0
    memory: list[int] = []
    for batch in batches(source):  # type: ignore[arg-type]
        assert torch.equal(batch["z_in"][:, 5, 7], batch["sample"].float()[:, None].expand(-1, CHANNELS)[:, 7])
        items += len(batch["z_in"])
        disk = os.statvfs("/dev/shm")  # noqa: S108
        peak = max(peak, (disk.f_blocks - disk.f_bfree) * disk.f_frsize)
        memory = [anonymous(child.pid) for child in multiprocessing.active_children()]
    return memory, items, peak


def anonymous(pid: int | None) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
