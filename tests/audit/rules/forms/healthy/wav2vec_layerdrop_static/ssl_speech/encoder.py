import torch
from torch import nn


class DropEncoder(nn.Module):
    def __init__(self, dim=512, depth=12, heads=8, layerdrop=0.05):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True, norm_first=True)
            for _ in range(depth)
        )
        self.layerdrop = layerdrop
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        for layer in self.layers:
            if self.training and torch.rand(()).item() < self.layerdrop:
                continue
            x = layer(x)
        return self.norm(x)


class SpeechModel(nn.Module):
    def __init__(self, codes=320, dim=512):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, dim, 10, 5), nn.GELU(), nn.Conv1d(dim, dim, 8, 4), nn.GELU(), nn.Conv1d(dim, dim, 4, 4), nn.GELU()
        )
        self.mask = nn.Parameter(torch.empty(dim).uniform_())
        self.encoder = DropEncoder(dim)
        self.out = nn.Linear(dim, codes)

    def forward(self, wave, mask):
        h = self.conv(wave[:, None]).transpose(1, 2)
        h = torch.where(mask[..., None], self.mask, h)
        return self.out(self.encoder(h))
