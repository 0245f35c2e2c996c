import numpy as np
import torch
from torch.utils.data import Dataset, Sampler

from shards import ShardCache


class SpectrogramDataset(Dataset):
    def __init__(self, root, rank, world_size, per_shard=48, crop=128, capacity=16, warm=True):
        self.cache = ShardCache(root, capacity)
        self.shards = list(range(len(self.cache.paths)))[rank::world_size]
        self.per_shard, self.crop = per_shard, crop
        if warm:
            self.cache.warm(self.shards)

    def __len__(self):
        return len(self.shards) * self.per_shard

    def __getitem__(self, i):
        spec, label = self.cache.get(self.shards[i // self.per_shard])
        x = spec[i % self.per_shard]
        start = np.random.randint(0, x.shape[1] - self.crop)
        return torch.from_numpy(x[:, start : start + self.crop].copy()), int(label[i % self.per_shard])


class ShardShuffle(Sampler):
    """Shuffles shards and the samples inside a shard, so that the cache is hit."""

    def __init__(self, num_shards, per_shard, seed):
        self.num_shards, self.per_shard, self.seed, self.epoch = num_shards, per_shard, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        rng = np.random.default_rng((self.seed, self.epoch))
        for s in rng.permutation(self.num_shards):
            yield from (int(s) * self.per_shard + rng.permutation(self.per_shard)).tolist()

    def __len__(self):
        return self.num_shards * self.per_shard
