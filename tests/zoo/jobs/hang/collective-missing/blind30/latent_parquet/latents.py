"""Latent shards on disk and the index over them."""
import glob
import logging
import os
import pickle
import time

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Dataset, Sampler

logger = logging.getLogger(__name__)


def write_synthetic_shards(root, num_shards=6, rows=96, channels=4, size=8, seed=0):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(num_shards):
        n = rows + int(rng.integers(-12, 12))
        np.savez(
            os.path.join(root, f"latents_{i:05d}.npz"),
            latent=rng.standard_normal((n, channels, size, size)).astype(np.float32),
            caption=rng.standard_normal((n, 16)).astype(np.float32),
        )


def index_path(root):
    return os.path.join(root, "index_cache", "file_info.pkl")


def get_files_and_lengths(root, rank):
    """File names of the shards and their row counts, in one order on all ranks."""
    cache_file = index_path(root)
    if os.path.exists(cache_file):
        with open(cache_file, "rb") as f:
            file_names, lengths = pickle.load(f)
        logger.info("rank %d: index with %d shards, %d rows", rank, len(file_names), sum(lengths))
        return file_names, lengths

    if rank == 0:
        logger.info("no index under %s, scanning shards", root)
        file_names, lengths = [], []
        for path in sorted(glob.glob(os.path.join(root, "*.npz"))):
            with np.load(path) as z:
                file_names.append(path)
                lengths.append(len(z["latent"]))
        os.makedirs(os.path.dirname(cache_file), exist_ok=True)
        tmp = cache_file + ".tmp"
        with open(tmp, "wb") as f:
            pickle.dump((file_names, lengths), f)
        os.replace(tmp, cache_file)
    dist.barrier()
    return get_files_and_lengths(root, rank)


class LatentDataset(Dataset):
    def __init__(self, root, rank, stagger=0.0):
        # spread the opening of the shards, the metadata server does not like bursts
        time.sleep(rank * stagger)
        self.file_names, self.lengths = get_files_and_lengths(root, rank)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self._open = {}

    def __len__(self):
        return int(self.offsets[-1])

    def __getitem__(self, idx):
        shard = int(np.searchsorted(self.offsets, idx, side="right") - 1)
        if shard not in self._open:
            with np.load(self.file_names[shard]) as z:
                self._open[shard] = (z["latent"], z["caption"])
        latent, caption = self._open[shard]
        row = idx - int(self.offsets[shard])
        return torch.from_numpy(latent[row]), torch.from_numpy(caption[row])


class DPSampler(Sampler):
    """Equal number of batches on each rank, the tail is dropped."""

    def __init__(self, length, batch_size, rank, world_size, seed):
        self.length, self.batch_size = length, batch_size
        self.rank, self.world_size, self.seed = rank, world_size, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(self.length, generator=g)
        step = self.batch_size * self.world_size
        order = order[: self.length // step * step].view(-1, self.world_size, self.batch_size)
        for batch in order[:, self.rank]:
            yield batch.tolist()

    def __len__(self):
        return self.length // (self.batch_size * self.world_size)
