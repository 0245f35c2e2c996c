import torch
import torch.distributed as dist
from torch import nn


class Prototypes(nn.Module):
    def __init__(self, dim, count):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count, dim))

    def forward(self, features):
        logits = features @ self.weight.T
        with torch.no_grad():
            targets = torch.exp(logits / 0.05)
            total = targets.sum()
            dist.all_reduce(total)
            targets = targets / total
        return -(targets * logits.log_softmax(dim=1)).sum()


class Codebook(nn.Module):
    def __init__(self, dim, count):
        super().__init__()
        self.register_buffer("codes", torch.randn(count, dim))

    def forward(self, features):
        nearest = torch.cdist(features, self.codes).argmin(dim=1)
        chosen = torch.nn.functional.one_hot(nearest, len(self.codes)).float()
        counts = chosen.sum(dim=0)
        dist.all_reduce(counts)
        sums = chosen.T @ features.detach()
        dist.all_reduce(sums)
        self.codes.data.copy_(sums / counts[:, None])
        return self.codes[nearest]
