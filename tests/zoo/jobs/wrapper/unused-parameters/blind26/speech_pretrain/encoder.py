import torch
import torch.nn as nn
import torch.nn.functional as F


class EncoderLayer(nn.Module):
    def __init__(self, dim, ff):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, ff), nn.GELU(), nn.Linear(ff, dim))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class SpeechEncoder(nn.Module):
    def __init__(self, feat=16, dim=32, layers=4, layerdrop=0.05):
        super().__init__()
        self.project = nn.Conv1d(feat, dim, 3, padding=1)
        self.layers = nn.ModuleList(EncoderLayer(dim, dim * 2) for _ in range(layers))
        self.layerdrop = layerdrop
        self.mask_token = nn.Parameter(torch.randn(dim))
        self.head = nn.Linear(dim, feat)

    def forward(self, feats, mask):
        x = self.project(feats.transpose(1, 2)).transpose(1, 2)
        x = torch.where(mask.unsqueeze(-1), self.mask_token, x)
        for layer in self.layers:
            if self.training and torch.rand(()) < self.layerdrop:
                continue
            x = layer(x)
        return self.head(x)


def masked_loss(pred, target, mask):
    return F.l1_loss(pred[mask], target[mask])
