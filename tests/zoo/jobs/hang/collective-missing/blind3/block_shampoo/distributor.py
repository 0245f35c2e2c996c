import torch
import torch.distributed as dist


class DDPDistributor:
    """Gives each parameter to one rank, which computes its search direction."""

    def __init__(self, params):
        self.params = list(params)
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        load = [0] * self.world_size
        self.owner = {}
        for param in sorted(self.params, key=lambda p: -p.numel()):
            target = load.index(min(load))
            self.owner[param] = target
            load[target] += param.numel()
        self.buffer_size = max(load)

    @property
    def local_params(self):
        return [p for p in self.params if self.owner[p] == self.rank]

    def local_masked(self):
        return [p for p in self.local_params if p.grad is not None]

    @torch.no_grad()
    def update_params(self, directions):
        mine = torch.zeros(self.buffer_size)
        offset = 0
        for param in self.local_params:
            if param in directions:
                mine[offset : offset + param.numel()] = directions[param].reshape(-1)
            offset += param.numel()
        gathered = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(gathered, mine)
        offsets = [0] * self.world_size
        for param in self.params:
            owner = self.owner[param]
            begin = offsets[owner]
            offsets[owner] += param.numel()
            param.add_(gathered[owner][begin : offsets[owner]].view_as(param))
