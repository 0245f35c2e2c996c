import torch
import torch.distributed as dist


class CrossRankMean:
    """Mean of a value over all ranks, updated in place every `every` calls."""

    def __init__(self, every):
        self.every = every
        self.calls = 0
        self.last = float("nan")

    def push(self, value):
        self.calls += 1
        if self.calls % self.every:
            return self.last
        box = [torch.zeros(2) for _ in range(dist.get_world_size())]
        dist.all_gather(box, torch.tensor([value, 1.0]))
        tot = torch.stack(box).sum(0)
        self.last = (tot[0] / tot[1]).item()
        return self.last
