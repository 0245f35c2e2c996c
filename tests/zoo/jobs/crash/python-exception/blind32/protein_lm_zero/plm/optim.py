"""AdamW whose state is divided over the ranks: each rank steps the parameters it owns and sends them to the others."""
import torch
import torch.distributed as dist


class ShardedAdamW:
    def __init__(self, params, lr, weight_decay=0.01):
        self.params = list(params)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.owned = [p for i, p in enumerate(self.params) if i % self.world == self.rank]
        self.inner = torch.optim.AdamW(self.owned, lr=lr, weight_decay=weight_decay)

    def step(self):
        for p in self.params:
            dist.all_reduce(p.grad)
            p.grad /= self.world
        torch.nn.utils.clip_grad_norm_(self.params, 1.0)
        self.inner.step()
        for i, p in enumerate(self.params):
            dist.broadcast(p.data, src=i % self.world)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return self.inner.state_dict()
