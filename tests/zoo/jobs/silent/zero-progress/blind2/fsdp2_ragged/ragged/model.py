from torch import nn


class Block(nn.Module):

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


class Regressor(nn.Module):

    def __init__(self, cfg):
        super().__init__()
        self.inp = nn.Linear(cfg.features, cfg.width)
        self.blocks = nn.ModuleList([Block(cfg.width) for _ in range(cfg.depth)])
        self.out = nn.Linear(cfg.width, 1)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)
