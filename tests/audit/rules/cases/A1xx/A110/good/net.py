from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.gate = nn.Linear(8, 8)

    def forward(self, x, use_gate=False):
        x = self.body(x)
        return self.gate(x) if use_gate else x


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x):
        return self.a(x), self.b(x)
