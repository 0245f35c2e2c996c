from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.norm = nn.BatchNorm1d(dim)

    def forward(self, x):
        return self.norm(self.linear(x)).relu()


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Linear(3, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(4))
        self.head = nn.Linear(dim, 1)

    def groups(self, name):
        return {"encoder": [self.stem, *self.blocks], "head": [self.head]}[name]

    def freeze(self, name):
        for module in self.groups(name):
            module.requires_grad_(False)
            module.eval()

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
