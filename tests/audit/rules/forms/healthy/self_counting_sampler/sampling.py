import torch
import torch.distributed as dist
from torch.utils.data import Sampler


class LengthBuckets(Sampler):
    """Batches of alike lengths, a new order for each pass, the same number for each rank."""

    def __init__(self, lengths, batch_size, seed=0, pool=100):
        self.lengths = torch.as_tensor(lengths)
        self.batch_size = batch_size
        self.seed = seed
        self.pool = pool * batch_size
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.passes = 0

    def _batches(self):
        gen = torch.Generator().manual_seed(self.seed + self.passes)
        order = torch.randperm(len(self.lengths), generator=gen)
        batches = []
        for part in order.split(self.pool):
            part = part[self.lengths[part].argsort()]
            batches += [b for b in part.split(self.batch_size) if len(b) == self.batch_size]
        mix = torch.randperm(len(batches), generator=gen).tolist()
        usable = len(mix) // self.world * self.world
        return [batches[i].tolist() for i in mix[:usable]]

    def __iter__(self):
        batches = self._batches()
        self.passes += 1
        yield from batches[self.rank :: self.world]

    def __len__(self):
        return sum(len(p) // self.batch_size for p in torch.arange(len(self.lengths)).split(self.pool)) // self.world

    def state_dict(self):
        return {"passes": self.passes}

    def load_state_dict(self, state):
        self.passes = state["passes"]
