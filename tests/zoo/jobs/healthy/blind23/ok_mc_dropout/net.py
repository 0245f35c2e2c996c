import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesianRegressor(nn.Module):
    """Gal and Ghahramani 2016: masks are drawn at test time as well, the spread of the passes is the uncertainty."""

    def __init__(self, width=64, p=0.1):
        super().__init__()
        self.a, self.b, self.c, self.p = nn.Linear(1, width), nn.Linear(width, width), nn.Linear(width, 1), p

    def forward(self, x):
        h = F.dropout(F.relu(self.a(x)), self.p)
        h = F.dropout(F.relu(self.b(h)), self.p)
        return self.c(h)

    @torch.no_grad()
    def predict(self, x, passes=100):
        draws = torch.stack([self(x) for _ in range(passes)])
        return draws.mean(0), draws.std(0)
