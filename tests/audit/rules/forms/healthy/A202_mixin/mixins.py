import torch
import torch.distributed as dist


class MetricsMixin:
    def reduce_metrics(self):
        value = torch.tensor([self.correct, self.seen], dtype=torch.float64)
        dist.all_reduce(value)
        return float(value[0] / value[1])


class RankMixin:
    @property
    def rank(self):
        return dist.get_rank() if dist.is_initialized() else 0

    def main_process(self):
        return self.rank == 0
