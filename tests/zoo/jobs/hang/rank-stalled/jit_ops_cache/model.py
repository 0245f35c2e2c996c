from torch import nn

from ops.loader import load


class Scaled(nn.Module):
    def __init__(self, inner, op):
        super().__init__()
        self.inner = inner
        self.op = load(op)

    def forward(self, x):
        return self.op.scaled(self.inner(x), 0.5)


def build(fused):
    head = nn.Linear(8, 2)
    return Scaled(head, "fused_scale") if fused else head
