import torch
from torch.utils.data import BatchSampler, DistributedSampler


class BucketBatches(BatchSampler):
    """Sorts pools of indices by length before cutting them into batches."""

    def __init__(self, source, lengths, batch_size, pool=8):
        super().__init__(source, batch_size, drop_last=True)
        self.source, self.lengths, self.pool = source, lengths, pool

    def __len__(self):
        return len(self.source) // self.batch_size

    def __iter__(self):
        indices = list(self.source)
        step = self.batch_size * self.pool
        for at in range(0, len(indices), step):
            chunk = sorted(indices[at:at + step], key=self.lengths.__getitem__)
            for b in range(0, len(chunk) - self.batch_size + 1, self.batch_size):
                yield chunk[b:b + self.batch_size]


def distributed_buckets(dataset, batch_size, seed):
    source = DistributedSampler(dataset, seed=seed, drop_last=True)
    return BucketBatches(source, dataset.lengths, batch_size)
