import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, send, recv):
        ctx.send, ctx.recv = send, recv
        out = x.new_empty(sum(recv), x.size(1))
        dist.all_to_all_single(out, x.contiguous(), recv, send)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_empty(sum(ctx.send), grad.size(1))
        dist.all_to_all_single(out, grad.contiguous(), ctx.send, ctx.recv)
        return out, None, None


class Experts(nn.Module):
    """The experts that live on this rank."""

    def __init__(self, n, dim, hidden):
        super().__init__()
        self.w1 = nn.ParameterList(nn.Parameter(torch.randn(dim, hidden) * dim ** -0.5) for _ in range(n))
        self.w2 = nn.ParameterList(nn.Parameter(torch.randn(hidden, dim) * hidden ** -0.5) for _ in range(n))

    def forward(self, x, expert):
        if x.size(0) == 0:
            return torch.empty_like(x)
        out = torch.zeros_like(x)
        for e, (w1, w2) in enumerate(zip(self.w1, self.w2)):
            rows = (expert == e).nonzero().flatten()
            out = out.index_add(0, rows, F.gelu(x[rows] @ w1) @ w2)
        return out


class MoE(nn.Module):
    def __init__(self, dim, n_experts, hidden):
        super().__init__()
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        self.per_rank = n_experts // self.world
        self.router = nn.Linear(dim, n_experts, bias=False)
        self.experts = Experts(self.per_rank, dim, hidden)
        self.load = torch.zeros(n_experts)

    def exchange_counts(self, counts):
        got = torch.empty_like(counts)
        dist.all_to_all_single(got, counts)
        return got

    def forward(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        prob, choice = self.router(x).softmax(-1).max(-1)
        self.load = 0.9 * self.load + 0.1 * torch.bincount(choice, minlength=len(self.load)).float()
        order = choice.argsort(stable=True)
        send = torch.bincount(choice // self.per_rank, minlength=self.world)
        recv = self.exchange_counts(send)
        send, recv = send.tolist(), recv.tolist()
        tokens = AllToAll.apply(x[order], send, recv)
        local = x.new_empty(sum(recv), dtype=torch.long)
        dist.all_to_all_single(local, choice[order] % self.per_rank, recv, send)
        back = AllToAll.apply(self.experts(tokens, local), recv, send)
        y = torch.empty_like(x).index_copy(0, order, back)
        return (y * prob[:, None]).reshape(shape)


class Dense(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class MoELM(nn.Module):
    def __init__(self, vocab=40, dim=32, layers=2, n_experts=4, moe_every=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = nn.ModuleList(nn.GRU(dim, dim, batch_first=True) for _ in range(layers))
        self.ffn = nn.ModuleList(MoE(dim, n_experts, 64) if i % moe_every == 1 else Dense(dim, 64) for i in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx):
        x = self.emb(idx)
        for mix, ffn in zip(self.mix, self.ffn):
            x = x + mix(self.norm(x))[0]
            x = x + ffn(self.norm(x))
        return self.head(self.norm(x))
