import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.att = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.att(h, h, h, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class SpeechEncoder(nn.Module):
    def __init__(self, n_mels, width, depth, heads, n_tokens):
        super().__init__()
        self.skip_rate = 0.0
        self.subsample = nn.Conv1d(n_mels, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.out = nn.Linear(width, n_tokens)

    def forward(self, feats):
        x = self.subsample(feats.transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            if self.training and torch.rand(()).item() < self.skip_rate:
                continue
            x = block(x)
        return self.out(x).log_softmax(-1)
