"""Reads a latent cache in random order by 8 workers: python shm_reader.py FOLDER LAYOUT BATCH [keep].

The cache is larger than the /dev/shm it is meant to run in. One JSON line. With `keep`, the data set keeps what it has
read: the failing twin.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from ups.config import TrainingConfig
from ups.data import latent_cache
from ups.data.field_spec import FieldSpec
from ups.data.latent_cache import LatentPairDataset
from ups.data.loaders import batches, collate_arrays, loader
from ups.data.sampler import GlobalBatchSampler

SAMPLES, FRAMES, TOKENS, CHANNELS = 100, 11, 1024, 32
EPOCHS = 2


def main(folder: Path, layout: str, batch: int, *, keep: bool) -> None:
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

    dataset = (KeepsAll if keep else LatentPairDataset)(folder / "cache", "train", spec)
    sampler = GlobalBatchSampler(len(dataset), batch, 0, 1, 0, shuffle=True)
    source = loader(dataset, sampler, TrainingConfig(workers=8, prefetch=2))
    by_pipe = source.collate_fn is collate_arrays
    began, read = memory_at_first_batch(source), []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        read.append(read_all(source))
    # Of all workers together: torch.load leaves one of them 20 MB larger now and then, and smaller again later.
    grown = (memory_of_workers() - began) / 8
    size = os.statvfs("/dev/shm")  # noqa: S108 - what is tested
    told = {"items": read[-1][0], "by_pipe": by_pipe, "cache_mb": np.prod(shape) * 4 / 2**20, "grown_mb": grown / 2**20}
    peak = max(most for _, most in read)
    print(json.dumps(told | {"shm_mb": size.f_blocks * size.f_frsize / 2**20, "shm_peak_mb": peak / 2**20}))


class KeepsAll(LatentPairDataset):
    """Keeps each item in the worker that read it."""

    def batch(self, indices: Sequence[int]) -> dict[str, torch.Tensor]:
        """Returns the items stacked, and keeps a copy of them."""
        items = super().batch(indices)
        self.kept = [*getattr(self, "kept", []), {name: one.numpy().copy() for name, one in items.items()}]
        return items


def memory_at_first_batch(source: DataLoader[Any]) -> int:
    """Returns what the workers hold when they have read little."""
    memory = 0
    for number, _ in enumerate(batches(source)):
        memory = memory or (memory_of_workers() if number == 0 else 0)
    return memory


def read_all(source: DataLoader[Any]) -> tuple[int, int]:
    """Returns the items of an epoch and the most of /dev/shm used."""
    items = peak = 0
    for batch in batches(source):
        assert torch.equal(batch["z_in"][:, 5, 7], batch["sample"].float()[:, None].expand(-1, CHANNELS)[:, 7])
        items += len(batch["z_in"])
        disk = os.statvfs("/dev/shm")  # noqa: S108
        peak = max(peak, (disk.f_blocks - disk.f_bfree) * disk.f_frsize)
    return items, peak


def memory_of_workers() -> int:
    """Returns the bytes of all workers that no file stands behind."""
    return sum(anonymous(child.pid) for child in multiprocessing.active_children())


def anonymous(pid: int | None) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), keep=sys.argv[4:] == ["keep"])
