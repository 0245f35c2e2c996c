import torch
from torch.utils.data import Sampler


class PKSampler(Sampler):
    """Batches of P classes with K samples each; the ranks share the classes of a step among them."""

    def __init__(self, labels, p, k, steps, rank, world, seed=0):
        self.by_class = [torch.nonzero(labels == c).flatten() for c in labels.unique()]
        self.p, self.k, self.steps, self.rank, self.world, self.seed = p, k, steps, rank, world, seed
        self.epoch = 0

    def __len__(self):
        return self.steps

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + 7919 * self.epoch)
        self.epoch += 1
        for _ in range(self.steps):
            classes = torch.randperm(len(self.by_class), generator=g)[: self.p * self.world]
            picks = [self.by_class[c][torch.randint(0, len(self.by_class[c]), (self.k,), generator=g)] for c in classes.tolist()]
            mine = picks[self.rank * self.p : (self.rank + 1) * self.p]
            yield torch.cat(mine).tolist()
