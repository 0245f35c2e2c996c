import torch.nn as nn


class ResStep(nn.Module):
    def __init__(self, width=20, depth=3):
        super().__init__()
        kw = dict(padding=3, padding_mode="circular")
        self.lift = nn.Conv1d(1, width, 7, **kw)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv1d(width, width, 7, **kw), nn.GELU(), nn.Conv1d(width, width, 1)) for _ in range(depth))
        self.out = nn.Conv1d(width, 1, 1)

    def forward(self, u):
        h = self.lift(u.unsqueeze(1))
        for block in self.blocks:
            h = h + block(h)
        return u + self.out(h).squeeze(1)
