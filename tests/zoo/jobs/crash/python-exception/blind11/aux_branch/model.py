from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x):
        return self.body(x)


class MultiTask(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = Encoder(width)
        self.heads = nn.ModuleDict({"depth": nn.Linear(width, 1), "normal": nn.Linear(width, 3)})

    def forward(self, x, task):
        return self.heads[task](self.encoder(x))
