import torch
from torch import nn


class TinyValle(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.encoder = nn.Linear(params.feature_dim, params.hidden)
        self.decoder = nn.Linear(params.hidden, params.feature_dim)

    def forward(self, batch):
        return self.decoder(torch.tanh(self.encoder(batch)))


def features(numbers, dim):
    index = torch.tensor(numbers, dtype=torch.float32)[:, None]
    return torch.sin(index * torch.arange(1, dim + 1) / 40)
