import torch
from torch.utils.data import Sampler


class StatefulDistributedSampler(Sampler):
    """Like DistributedSampler, but knows how many of its indices were handed out."""

    def __init__(self, data, world, rank, seed=0):
        self.data, self.world, self.rank, self.seed = data, world, rank, seed
        self.epoch = 0
        self.position = 0

    def __len__(self):
        return len(self.data) // self.world

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.data), generator=g)[: len(self) * self.world]
        mine = order[self.rank::self.world].tolist()
        for i in mine[self.position:]:
            self.position += 1
            yield i
        self.position = 0

    def state_dict(self):
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state):
        self.epoch = state["epoch"]
        self.position = state["position"]
