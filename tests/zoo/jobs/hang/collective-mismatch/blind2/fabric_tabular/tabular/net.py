from torch import nn


class GatedBlock(nn.Module):

    def __init__(self, dim):
        super().__init__()
        self.value, self.gate = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x + self.value(x) * self.gate(x).sigmoid())


class TabularNet(nn.Module):

    def __init__(self, columns, dim=32, depth=2):
        super().__init__()
        self.stem = nn.Linear(columns, dim)
        self.blocks = nn.Sequential(*[GatedBlock(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))
