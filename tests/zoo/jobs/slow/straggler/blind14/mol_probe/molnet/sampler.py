import torch
from torch.utils.data import Sampler


class SizeGroupedSampler(Sampler):
    """Shuffled in the first epochs, then batches of alike sizes to spare padding."""

    def __init__(self, sizes, batch_size, rank, world, group_after=1, seed=0):
        self.sizes = sizes
        self.batch_size = batch_size
        self.rank, self.world = rank, world
        self.group_after = group_after
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.sizes) // self.world

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.sizes), generator=g)
        if self.epoch >= self.group_after:
            order = order[torch.argsort(self.sizes[order], stable=True)]
        mine = order[self.rank:len(self) * self.world:self.world]
        chunks = list(mine.split(self.batch_size))
        for k in torch.randperm(len(chunks), generator=g).tolist():
            yield from chunks[k].tolist()
