"""Parameters of which each rank keeps a slice of the rows."""
import torch
import torch.distributed as dist


class ShardedParameter:
    def __init__(self, full):
        world, rank = dist.get_world_size(), dist.get_rank()
        self.shape = full.shape
        rows = -(-full.shape[0] // world)
        padded = torch.zeros(rows * world, *full.shape[1:])
        padded[: full.shape[0]] = full
        self.local = padded[rank * rows : (rank + 1) * rows].clone()

    def full_tensor(self):
        parts = [torch.empty_like(self.local) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, self.local)
        return torch.cat(parts)[: self.shape[0]]


class ShardedEngine:
    """Holds the actor in slices; whoever wants to see a parameter gathers it."""

    def __init__(self, module):
        self.shards = {name: ShardedParameter(value) for name, value in module.state_dict().items()}

    def get_per_tensor_param(self):
        for name, shard in self.shards.items():
            yield name, shard.full_tensor()

    def step(self, scale):
        norm = sum(shard.local.pow(2).sum() for shard in self.shards.values())
        dist.all_reduce(norm)
        for shard in self.shards.values():
            shard.local.mul_(1 - scale / (1 + norm.sqrt()))
        return norm.item()
