import torch
import torch.distributed as dist

from const import to_months


class MeanAbsoluteError:
    """In months, over all ranks."""

    def __init__(self):
        self.values = torch.zeros(2)

    def update(self, pred, target):
        error = (to_months(pred) - to_months(target)).abs()
        self.values += torch.tensor([error.sum().item(), len(error)])

    def compute(self):
        dist.all_reduce(self.values)
        total, count = self.values.tolist()
        return round(total / count, 2)
