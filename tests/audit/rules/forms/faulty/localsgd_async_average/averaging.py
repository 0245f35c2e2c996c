import torch
import torch.distributed as dist


class PeriodicAverage:
    def __init__(self, model, every, group=None):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.every = every
        self.group = group
        self.world = dist.get_world_size(group)
        self.count = 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        if self.count % self.every:
            return False
        self.average()
        return True

    @torch.no_grad()
    def average(self):
        work = None
        for p in self.params:
            work = dist.all_reduce(p.data, group=self.group, async_op=True)  # cause
        if work is not None:
            work.wait()  # cause
        torch._foreach_div_([p.data for p in self.params], self.world)
