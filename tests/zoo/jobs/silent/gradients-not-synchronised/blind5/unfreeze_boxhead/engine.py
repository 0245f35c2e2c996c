import torch
import torch.distributed as dist


class TrainingSampler(torch.utils.data.Sampler):
    """An endless shuffled stream of indices of which each rank takes its share."""

    def __init__(self, size, seed):
        self.size, self.seed = size, seed

    def __iter__(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        g = torch.Generator().manual_seed(self.seed)
        position = 0
        while True:
            for index in torch.randperm(self.size, generator=g).tolist():
                if position % world == rank:
                    yield index
                position += 1


def warmup_multistep(optimizer, warmup, milestones):
    def factor(it):
        return min(1.0, (it + 1) / warmup) * 0.2 ** sum(it >= m for m in milestones)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
