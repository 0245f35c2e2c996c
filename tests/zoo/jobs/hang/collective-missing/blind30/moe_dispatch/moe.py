"""Mixture of experts with the experts spread over the ranks."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class _AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, send, recv, group):
        ctx.splits = (send, recv, group)
        out = x.new_empty(sum(recv), x.shape[1])
        dist.all_to_all_single(out, x.contiguous(), recv, send, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        send, recv, group = ctx.splits
        out = grad.new_empty(sum(send), grad.shape[1])
        dist.all_to_all_single(out, grad.contiguous(), send, recv, group=group)
        return out, None, None, None


def all_to_all(x, send, recv, group):
    return _AllToAll.apply(x, send, recv, group)


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden)
        self.w2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class MoELayer(nn.Module):
    def __init__(self, dim, hidden, num_experts, group):
        super().__init__()
        self.group = group
        self.world = dist.get_world_size(group)
        self.num_local = num_experts // self.world
        self.num_experts = num_experts
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(self.num_local))
        self.register_buffer("load", torch.zeros(num_experts))

    def _expert_forward(self, tokens, counts):
        """tokens come grouped by source rank, then by local expert."""
        if tokens.shape[0] == 0:
            return torch.empty(0, tokens.shape[1])
        ids = torch.arange(self.num_local).repeat(self.world).repeat_interleave(counts)
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            sel = (ids == e).nonzero(as_tuple=True)[0]
            if len(sel):
                out = out.index_copy(0, sel, expert(tokens[sel]))
        return out

    def forward(self, x):
        shape = x.shape
        # one decision per document, all of its positions go to the same expert
        probs = self.gate(x.mean(1)).softmax(-1).repeat_interleave(shape[1], 0)
        x = x.reshape(-1, shape[-1])
        weight, choice = probs.max(-1)
        order = choice.argsort(stable=True)
        counts = torch.bincount(choice, minlength=self.num_experts)
        self.load.mul_(0.9).add_(counts, alpha=0.1)

        got = torch.empty_like(counts)
        dist.all_to_all_single(got, counts, group=self.group)
        send = counts.view(self.world, self.num_local).sum(1).tolist()
        recv = got.view(self.world, self.num_local).sum(1).tolist()

        tokens = all_to_all(x[order], send, recv, self.group)
        tokens = self._expert_forward(tokens, got)
        back = all_to_all(tokens, recv, send, self.group)

        out = torch.zeros_like(x).index_copy(0, order, back)
        out = out * weight[:, None]
        balance = self.num_experts * (probs.mean(0) * (counts / len(x))).sum()
        return out.view(shape), balance
