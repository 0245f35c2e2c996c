from torch import nn
from torch.nn import functional as F


class Downscaler(nn.Module):
    def __init__(self, factor, width):
        super().__init__()
        self.factor = factor
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.SiLU(),
                                  nn.Conv2d(width, factor * factor, 3, padding=1))
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, coarse):
        base = F.interpolate(coarse, scale_factor=self.factor, mode="bilinear")
        return base + self.shuffle(self.body(coarse))
