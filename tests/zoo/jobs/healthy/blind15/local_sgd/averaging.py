import torch
import torch.distributed as dist


class PeriodicAverager:
    """Local steps; the replicas are averaged every `period` steps once the warm-up (averaging each step) is over."""

    def __init__(self, model, period, warmup):
        self.model, self.period, self.warmup = model, period, warmup
        self.step = 0

    def due(self):
        return self.step < self.warmup or self.step % self.period == 0

    @torch.no_grad()
    def average(self):
        flat = torch.cat([p.flatten() for p in self.model.parameters()])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        at = 0
        for p in self.model.parameters():
            p.copy_(flat[at:at + p.numel()].view_as(p))
            at += p.numel()

    def after_step(self):
        self.step += 1
        if self.due():
            self.average()
