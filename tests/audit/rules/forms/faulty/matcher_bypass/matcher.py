import torch
import torch.nn.functional as F
from torch import nn


class Matcher(nn.Module):
    def __init__(self, dim_a, dim_b, width=256):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(dim_a, width), nn.ReLU(), nn.Linear(width, 128))
        self.b = nn.Sequential(nn.Linear(dim_b, width), nn.ReLU(), nn.Linear(width, 128))
        self.temp = nn.Parameter(torch.tensor(0.07))

    def forward(self, xa, xb):
        return F.normalize(self.a(xa), dim=-1), F.normalize(self.b(xb), dim=-1)

    def pair_loss(self, xa, xb):
        ea, eb = self(xa, xb)
        logits = ea @ eb.t() / self.temp.clamp(min=1e-3)
        target = torch.arange(len(logits), device=logits.device)
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))
