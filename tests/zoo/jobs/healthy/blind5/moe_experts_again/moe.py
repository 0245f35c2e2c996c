import torch
import torch.distributed as dist
from torch import nn


class _AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        dist.all_to_all_single(out, grad.contiguous())
        return out


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        for p in self.parameters():
            p.expert = True

    def forward(self, x):
        return self.net(x)


class MOELayer(nn.Module):
    """One local expert a rank; each token goes to the expert its gate prefers, dense dispatch."""

    def __init__(self, dim, expert):
        super().__init__()
        self.num_experts = dist.get_world_size()
        self.gate = nn.Linear(dim, self.num_experts, bias=False)
        self.expert = expert

    def forward(self, x):
        scores = torch.softmax(self.gate(x), dim=-1)
        mask = nn.functional.one_hot(scores.argmax(-1), self.num_experts).to(x.dtype)
        dispatched = torch.einsum("te,td->etd", mask, x)
        received = _AllToAll.apply(dispatched)
        processed = self.expert(received.flatten(0, 1)).view_as(received)
        returned = _AllToAll.apply(processed)
        balance = self.num_experts * (mask.mean(0) * scores.mean(0)).sum()
        return torch.einsum("te,etd->td", mask * scores, returned), balance


def allreduce_shared_gradients(model):
    world_size = dist.get_world_size()
    for p in model.parameters():
        if getattr(p, "expert", False):
            p.grad /= world_size
        else:
            dist.all_reduce(p.grad)
            p.grad /= world_size
