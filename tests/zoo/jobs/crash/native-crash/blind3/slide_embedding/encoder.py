import torch
from torch import nn


class TileEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        torch.manual_seed(cfg.seed)
        self.stem = nn.Conv2d(3, 32, 4, stride=4)
        self.mix = nn.Conv2d(32, 96, 3, padding=1)
        self.head = nn.Linear(96, cfg.feature_dim)

    def forward(self, tiles):
        x = torch.relu(self.mix(torch.relu(self.stem(tiles))))
        return self.head(x.mean(dim=(2, 3)))

    @torch.inference_mode()
    def embed(self, tiles, repeats):
        views = [self(tiles.roll(shift, dims=-1)) for shift in range(repeats)]
        return torch.stack(views).mean(dim=0)
