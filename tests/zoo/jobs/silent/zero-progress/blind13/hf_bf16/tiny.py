import torch
from torch import nn
from torch.utils.data import Dataset


class Pairs(Dataset):
    def __init__(self, n=2000, dim=64):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, dim, generator=g)
        w = torch.randn(dim, 4, generator=g)
        self.y = (self.x @ w).argmax(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


class Scorer(nn.Module):
    def __init__(self, dim=64, width=512, classes=4):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.body = nn.Sequential(nn.Linear(dim, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, classes)

    def forward(self, features, labels=None):
        x = features.to(self.head.weight.dtype)
        logits = self.head(self.body(self.norm(x)))
        return {"loss": nn.functional.cross_entropy(logits.float(), labels), "logits": logits}


def pretrained(dtype):
    """Stands for the download: weights of about the size that a real encoder has."""
    torch.manual_seed(0)
    net = Scorer()
    for p in net.parameters():
        if p.dim() == 1:
            nn.init.constant_(p, 1.0)
        else:
            nn.init.uniform_(p, 0.02, 0.06)
            p.data.mul_(torch.randint(0, 2, p.shape) * 2 - 1)
    return net.to(dtype)
