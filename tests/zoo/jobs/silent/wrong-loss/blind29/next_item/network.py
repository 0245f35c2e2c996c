import torch
import torch.nn as nn


class SASLayer(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.norm_a, self.norm_f = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * dim, dim))

    def forward(self, x, mask):
        q = self.norm_a(x)
        x = x + self.attn(q, q, q, attn_mask=mask, need_weights=False)[0]
        return x + self.ff(self.norm_f(x))


class SASRec(nn.Module):
    def __init__(self, items, max_len, dim=32, layers=2, heads=2, dropout=0.1):
        super().__init__()
        self.item = nn.Embedding(items, dim, padding_idx=0)
        self.pos = nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList(SASLayer(dim, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, items)

    def forward(self, seq):
        t = seq.shape[1]
        x = self.item(seq) + self.pos(torch.arange(t))
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)
        for layer in self.layers:
            x = layer(x, mask)
        return self.out(self.norm(x))
