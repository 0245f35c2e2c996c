import torch
from torch import nn
from torch.utils.data import Dataset


class ImageTower(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.LayerNorm(48), nn.Linear(48, dim))

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=-1)


class TextTower(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.EmbeddingBag(40, 32)
        self.proj = nn.Linear(32, dim)

    def forward(self, ids):
        return nn.functional.normalize(self.proj(self.embed(ids)), dim=-1)


class CaptionedImages(Dataset):
    def __init__(self, n=240):
        g = torch.Generator().manual_seed(29)
        self.captions = torch.randint(0, 40, (n, 5), generator=g)
        visual = torch.randn(40, 20, generator=g)
        self.images = visual[self.captions].sum(1) + 0.2 * torch.randn(n, 20, generator=g)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.captions[i]
