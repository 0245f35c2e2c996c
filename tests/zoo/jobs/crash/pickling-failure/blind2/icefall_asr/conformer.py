from torch import nn


class ConvModule(nn.Module):

    def __init__(self, dim, kernel=5):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.depthwise = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.pointwise = nn.Linear(dim, dim)

    def forward(self, x):
        h = self.depthwise(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.pointwise(h.relu())


class Conformer(nn.Module):

    def __init__(self, mels, dim=24, classes=8, layers=2):
        super().__init__()
        self.inp = nn.Linear(mels, dim)
        self.layers = nn.Sequential(*[ConvModule(dim) for _ in range(layers)])
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        return self.out(self.layers(self.inp(x)).mean(1))
