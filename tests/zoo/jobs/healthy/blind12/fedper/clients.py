import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Client:
    """One hospital: its own records, its own head, a body that all of them share."""

    def __init__(self, rank):
        self.rank = rank
        g = torch.Generator().manual_seed(900 + rank)
        n = 900 if rank == 0 else 480
        x = torch.randn(n, 14, generator=g)
        sign = 1.0 if rank == 0 else -1.0
        y = (sign * (x[:, :4].sum(1) + x[:, 4] * x[:, 5]) > 0).float()
        torch.manual_seed(55)
        self.body = nn.Sequential(nn.Linear(14, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        torch.manual_seed(56 + rank)
        self.head = nn.Linear(24, 1)
        self.loader = DataLoader(TensorDataset(x, y), 15, shuffle=True)
        self.opt = torch.optim.SGD([{"params": self.body.parameters(), "lr": 0.05},
                                    {"params": self.head.parameters(), "lr": 0.1}], momentum=0.8)

    def local_round(self):
        total = 0.0
        for x, y in self.loader:
            loss = nn.functional.binary_cross_entropy_with_logits(self.head(self.body(x)).squeeze(1), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.loader)
