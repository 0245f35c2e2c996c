import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class TwoTowers(nn.Module):
    def __init__(self, image=2048, text=768, out=256):
        super().__init__()
        self.image, self.text = Tower(image, out), Tower(text, out)
        self.temperature = nn.Parameter(torch.tensor(2.66))

    def forward(self, image, text):
        return self.image(image), self.text(text), self.temperature.exp().clamp(max=100)

    def contrastive(self, image, text):
        i, t, scale = self(image, text)
        logits = scale * i @ t.t()
        target = torch.arange(len(i), device=i.device)
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
