from torch import nn


class Residual(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(dropout))

    def forward(self, x):
        return x + self.block(x)


class Lifter(nn.Module):
    def __init__(self, joints, width, blocks, dropout):
        super().__init__()
        self.inp = nn.Linear(joints * 2, width)
        self.blocks = nn.Sequential(*[Residual(width, dropout) for _ in range(blocks)])
        self.out = nn.Linear(width, joints)

    def forward(self, points):
        return self.out(self.blocks(self.inp(points.flatten(1))))
