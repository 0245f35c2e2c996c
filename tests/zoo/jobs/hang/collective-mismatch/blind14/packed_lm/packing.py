import torch


class TokenBudgetBatches:
    """Groups this rank's documents into batches of at most `budget` padded tokens."""

    def __init__(self, docs, budget, rank, world, seed=0):
        self.docs, self.budget = docs, budget
        self.rank, self.world, self.seed = rank, world, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _order(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        perm = torch.randperm(len(self.docs), generator=g).tolist()
        return perm[self.rank::self.world]

    def __iter__(self):
        group, longest = [], 0
        for index in self._order():
            length = len(self.docs[index])
            if group and max(longest, length) * (len(group) + 1) > self.budget:
                yield group
                group, longest = [], 0
            group.append(index)
            longest = max(longest, length)
        if group:
            yield group
