import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class PersonalModel(nn.Module):
    """Shared representation, private head (FedRep, Collins et al. 2021)."""

    def __init__(self, dim=30, width=96, classes=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 32))
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.body(x))


def client_data(n, client, seed, dim=30, classes=6):
    g = torch.Generator().manual_seed(1000 * client + seed)
    common = torch.Generator().manual_seed(8)
    centres = torch.randn(classes, dim, generator=common)
    relabel = torch.randperm(classes, generator=torch.Generator().manual_seed(client))
    y = torch.randint(classes, (n,), generator=g)
    return torch.tanh(centres[y] * 0.6 + 0.8 * torch.randn(n, dim, generator=g)), relabel[y]


class Client:
    def __init__(self, rank):
        self.model = PersonalModel()
        self.loader = DataLoader(TensorDataset(*client_data(1600, rank, 0)), batch_size=32, shuffle=True)
        self.test = client_data(500, rank, 1)
        self.head_opt = torch.optim.SGD(self.model.head.parameters(), lr=0.05)
        self.body_opt = torch.optim.SGD(self.model.body.parameters(), lr=0.05)

    def local_round(self):
        for opt in (self.head_opt, self.body_opt):
            for x, y in self.loader:
                loss = F.cross_entropy(self.model(x), y)
                self.model.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        x, y = self.test
        return (self.model(x).argmax(1) == y).float().mean().item()
