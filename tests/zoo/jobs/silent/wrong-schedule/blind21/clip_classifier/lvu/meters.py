import torch
import torch.distributed as dist


class Meters:
    """Sums over the samples of all ranks."""

    names = ("loss", "accuracy")

    def __init__(self):
        self.sums = torch.zeros(3, dtype=torch.float64)

    def update(self, loss, logits, labels):
        n = len(labels)
        self.sums += torch.tensor([loss.item() * n, (logits.argmax(1) == labels).sum().item(), n], dtype=torch.float64)

    def compute(self):
        dist.all_reduce(self.sums)
        return {name: (self.sums[i] / self.sums[2]).item() for i, name in enumerate(self.names)}
