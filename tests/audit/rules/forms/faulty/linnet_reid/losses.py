import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


def collect(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]  # cause
    dist.all_gather(parts, x.contiguous())  # cause
    return torch.cat(parts)  # cause


class PairLoss(nn.Module):
    def __init__(self, start=0.07):
        super().__init__()
        self.log_t = nn.Parameter(torch.tensor(start).log())

    def forward(self, a, b):
        a = collect(F.normalize(a, dim=1))  # cause
        b = collect(F.normalize(b, dim=1))
        logits = a @ b.t() / self.log_t.exp()
        target = torch.arange(a.size(0), device=a.device)
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))
