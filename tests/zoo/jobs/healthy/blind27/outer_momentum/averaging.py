import torch
import torch.distributed as dist


class PeriodicAverager:
    """Averages parameters over all ranks every `period` steps (post-local SGD)."""

    def __init__(self, model, period, warmup):
        self.params = list(model.parameters())
        self.period, self.warmup, self.count = period, warmup, 0

    def step(self):
        self.count += 1
        if self.count < self.warmup or self.count % self.period == 0:
            self.average()

    @torch.no_grad()
    def average(self):
        flat = torch.nn.utils.parameters_to_vector(self.params)
        dist.all_reduce(flat)
        torch.nn.utils.vector_to_parameters(flat / dist.get_world_size(), self.params)
