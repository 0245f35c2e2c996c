"""Reads checkpoint shards, with the page cache warmed first where that pays."""
import json
import os
import time

import torch
import torch.distributed as dist


class HfWeightLoader:
    PREFETCH_FRACTION = 0.9

    def __init__(self, folder, memory, num_layers=0):
        self.folder = folder
        self.memory = memory
        self.num_layers = num_layers
        with open(os.path.join(folder, "model.index.json")) as handle:
            self.index = json.load(handle)

    def shard_files(self):
        return [os.path.join(self.folder, name) for name in self.index["shards"]]

    def prefetch_files(self, names):
        for name in names[dist.get_rank()::dist.get_world_size()]:
            with open(name, "rb") as handle:
                while handle.read(1 << 16):
                    pass

    def load_weights(self):
        names = self.shard_files()
        prefetch_size = self.index["size_mb"]
        enable_prefetch = (
            prefetch_size < self.memory.available_mb * self.PREFETCH_FRACTION
            and self.num_layers == 0
        )
        if enable_prefetch:
            self.prefetch_files(names)
            dist.barrier()
        weights = {}
        started = time.monotonic()
        for name in names:
            weights.update(torch.load(name, weights_only=True))
        return weights, time.monotonic() - started


def same_everywhere(weights):
    """The sum over all weights, compared between the ranks."""
    mine = torch.stack([value.double().sum() for _, value in sorted(weights.items())]).sum()
    low, high = mine.clone(), mine.clone()
    dist.all_reduce(low, dist.ReduceOp.MIN)
    dist.all_reduce(high, dist.ReduceOp.MAX)
    return bool(low == high)
