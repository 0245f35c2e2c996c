import random

import torch.distributed as dist


class DynamicBucketingSampler:
    """Groups utterances of similar duration until a batch holds max_duration seconds.

    Every rank draws from its own part of the manifest, as the cuts are pre-split on disk.
    """

    def __init__(self, durations, max_duration, num_buckets=4, shuffle=True, seed=0):
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.durations, self.max_duration = durations, max_duration
        self.num_buckets, self.shuffle, self.seed = num_buckets, shuffle, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _buckets(self):
        size = len(self.durations) // self.world_size
        mine = list(range(self.rank * size, (self.rank + 1) * size))
        mine.sort(key=lambda i: self.durations[i])
        step = (len(mine) + self.num_buckets - 1) // self.num_buckets
        return [mine[i : i + step] for i in range(0, len(mine), step)]

    def __iter__(self):
        rng = random.Random(self.seed + self.epoch)
        batches = []
        for bucket in self._buckets():
            if self.shuffle:
                rng.shuffle(bucket)
            batch, total = [], 0.0
            for idx in bucket:
                if batch and total + self.durations[idx] > self.max_duration:
                    batches.append(batch)
                    batch, total = [], 0.0
                batch.append(idx)
                total += self.durations[idx]
            if batch:
                batches.append(batch)
        if self.shuffle:
            rng.shuffle(batches)
        return iter(batches)
