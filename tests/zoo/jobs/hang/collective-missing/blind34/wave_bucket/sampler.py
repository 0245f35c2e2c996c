import random

from torch.utils.data import Sampler


class BucketizeBatchSampler(Sampler):
    """Groups utterances of similar duration; a batch holds at most max_frames padded frames."""

    def __init__(self, lengths, num_buckets, max_frames, shuffle=True, seed=0):
        self.lengths = lengths
        self.max_frames = max_frames
        self.shuffle = shuffle
        self.rng = random.Random(seed)
        self.buckets = self._make_buckets(num_buckets)
        self.batches = self._make_batches()

    def _make_buckets(self, num_buckets):
        lo, hi = min(self.lengths), max(self.lengths)
        width = (hi - lo) / num_buckets or 1
        buckets = [[] for _ in range(num_buckets)]
        for i, n in enumerate(self.lengths):
            buckets[min(int((n - lo) / width), num_buckets - 1)].append(i)
        return [b for b in buckets if b]

    def _make_batches(self):
        batches = []
        for bucket in self.buckets:
            order = list(bucket)
            if self.shuffle:
                self.rng.shuffle(order)
            batch, longest = [], 0
            for i in order:
                longest = max(longest, self.lengths[i])
                if batch and longest * (len(batch) + 1) > self.max_frames:
                    batches.append(batch)
                    batch, longest = [], self.lengths[i]
                batch.append(i)
            batches.append(batch)
        if self.shuffle:
            self.rng.shuffle(batches)
        return batches

    def __iter__(self):
        yield from self.batches

    def __len__(self):
        return len(self.batches)


class DistributedBatchSampler(Sampler):
    """Deals the batches of another batch sampler out to the ranks."""

    def __init__(self, batch_sampler, num_replicas, rank, drop_last=True):
        self.batches = list(batch_sampler)
        usable = len(self.batches) // num_replicas * num_replicas if drop_last else len(self.batches)
        self.mine = self.batches[rank:usable:num_replicas]

    def __iter__(self):
        return iter(self.mine)

    def __len__(self):
        return len(self.mine)
