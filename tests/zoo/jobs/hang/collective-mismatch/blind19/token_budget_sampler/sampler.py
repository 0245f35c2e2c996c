import random

from torch.utils.data import Sampler


class TokenBudgetBatchSampler(Sampler):
    """Groups this rank's sentences into batches that hold at most max_tokens (padded)."""

    def __init__(self, lengths, max_tokens, rank, world, seed=0):
        self.lengths, self.max_tokens = lengths, max_tokens
        self.rank, self.world, self.seed, self.epoch = rank, world, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _mine(self):
        order = list(range(len(self.lengths)))
        random.Random(self.seed + self.epoch).shuffle(order)
        n = len(order) // self.world * self.world
        return sorted(order[self.rank:n:self.world], key=lambda i: self.lengths[i])

    def __iter__(self):
        batches, current, longest = [], [], 0
        for i in self._mine():
            longest = max(longest, self.lengths[i])
            if current and longest * (len(current) + 1) > self.max_tokens:
                batches.append(current)
                current, longest = [], self.lengths[i]
            current.append(i)
        if current:
            batches.append(current)
        random.Random(self.epoch).shuffle(batches)
        yield from batches
