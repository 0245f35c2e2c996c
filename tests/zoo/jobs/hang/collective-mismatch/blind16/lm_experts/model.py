import torch
from torch import nn


class SwitchBlock(nn.Module):
    def __init__(self, dim, n_experts):
        super().__init__()
        self.router = nn.Linear(dim, n_experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim)) for _ in range(n_experts))

    def forward(self, h):
        gate, pick = self.router(h).softmax(-1).max(-1)
        out = torch.zeros_like(h)
        load = []
        for k, expert in enumerate(self.experts):
            sel = pick == k
            load.append(int(sel.sum()))
            if load[-1]:
                out[sel] = gate[sel].unsqueeze(-1) * expert(h[sel])
        return h + out, load


class TinyMoE(nn.Module):
    def __init__(self, vocab, dim, n_experts):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)
        self.block = SwitchBlock(dim, n_experts)

    def forward(self, tok):
        h, _ = self.mix(self.emb(tok))
        h, load = self.block(h)
        return self.head(h), load
