import torch
from torch.utils.data import Sampler


class TokenBudget(Sampler):
    """Batches of similar length with at most max_tokens padded tokens; the corpus is dealt out to the ranks by length."""

    def __init__(self, lengths, max_tokens, rank, world, seed=0):
        self.lengths, self.max_tokens = lengths, max_tokens
        self.rank, self.world, self.seed, self.epoch = rank, world, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _mine(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.lengths), generator=g)
        usable = len(order) // self.world * self.world
        mine = order[:usable][self.rank::self.world].tolist()
        return sorted(mine, key=self.lengths.__getitem__), g

    def _pack(self):
        mine, g = self._mine()
        batches, batch, longest = [], [], 0
        for i in mine:
            longest = max(longest, self.lengths[i])
            if batch and longest * (len(batch) + 1) > self.max_tokens:
                batches.append(batch)
                batch, longest = [], self.lengths[i]
            batch.append(i)
        if batch:
            batches.append(batch)
        return [batches[j] for j in torch.randperm(len(batches), generator=g).tolist()]

    def __iter__(self):
        return iter(self._pack())
