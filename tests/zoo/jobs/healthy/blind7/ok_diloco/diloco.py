import torch
import torch.distributed as dist


class DiLoCo:
    """Ranks train alone for some steps; then an outer optimizer steps along their mean change."""

    def __init__(self, model, inner, sync_every=8, outer_lr=0.7, momentum=0.9):
        self.model, self.inner, self.sync_every = model, inner, sync_every
        self.backup = [p.detach().clone() for p in model.parameters()]
        self.outer = torch.optim.SGD(model.parameters(), lr=outer_lr, momentum=momentum, nesterov=True)
        self.count = 0

    def step(self):
        self.inner.step()
        self.inner.zero_grad()
        self.count += 1
        if self.count % self.sync_every == 0:
            self.sync()

    @torch.no_grad()
    def sync(self):
        for p, b in zip(self.model.parameters(), self.backup):
            change = b - p
            dist.all_reduce(change)
            p.copy_(b)
            p.grad = change / dist.get_world_size()
        self.outer.step()
        self.outer.zero_grad()
        for p, b in zip(self.model.parameters(), self.backup):
            b.copy_(p)
