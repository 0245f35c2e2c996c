import torch
import torch.nn as nn

from moe import MoELayer


class DenseFFN(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x):
        return super().forward(x), 0.0


class MoEClassifier(nn.Module):
    def __init__(self, vocab, dim, layers, hidden, num_experts, classes, group):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.ModuleList(nn.GRU(dim, dim, batch_first=True) for _ in range(layers))
        self.norm = nn.ModuleList(nn.LayerNorm(dim) for _ in range(layers))
        self.ffn = nn.ModuleList(
            MoELayer(dim, hidden, num_experts, group) if i % 2 else DenseFFN(dim, hidden) for i in range(layers)
        )
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids)
        aux = 0.0
        for mix, norm, ffn in zip(self.mix, self.norm, self.ffn):
            x = x + mix(x)[0]
            y, balance = ffn(norm(x))
            x = x + y
            aux = aux + balance
        return self.head(x.mean(1)), aux

    def is_expert(self, name):
        return ".experts." in name
