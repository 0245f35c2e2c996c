from torch import nn


class FlowNet(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.recurrent = nn.GRU(2, width, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, past):
        states, _ = self.recurrent(past)
        return self.out(self.norm(states[:, -1])).squeeze(-1)
