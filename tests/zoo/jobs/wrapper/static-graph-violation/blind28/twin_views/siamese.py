import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def block(inp, out):
    return nn.Sequential(nn.Conv2d(inp, out, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True))


class TwinEncoder(nn.Module):
    def __init__(self, width=16, dim=32, save_memory=False):
        super().__init__()
        self.save_memory = save_memory
        self.stem = nn.Sequential(block(1, width), block(width, 2 * width), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(2 * width, dim), nn.BatchNorm1d(dim), nn.ReLU(), nn.Linear(dim, dim))
        self.predictor = nn.Sequential(nn.Linear(dim, dim // 2), nn.ReLU(), nn.Linear(dim // 2, dim))

    def forward(self, view):
        features = self.stem(view)
        if self.save_memory and self.training:
            z = checkpoint(self.projector, features, use_reentrant=True)
        else:
            z = self.projector(features)
        return self.predictor(z), z.detach()


def symmetric_loss(first, second):
    (p1, z1), (p2, z2) = first, second
    return -0.5 * (F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean())


@torch.no_grad()
def collapse_level(z):
    """Standard deviation of the normalised outputs; near zero when all images map to one point."""
    return F.normalize(z, dim=1).std(dim=0).mean()
