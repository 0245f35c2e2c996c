import torch
from torch import nn


class ContigClassifier(nn.Module):
    def __init__(self, k, classes, dim, background):
        super().__init__()
        self.embed = nn.Embedding(4 ** k, dim)
        self.register_buffer("background", background)
        self.head = nn.Linear(dim + classes, classes)

    def forward(self, codes):
        prior = self.background[:, codes].mean(-1).T
        return self.head(torch.cat([self.embed(codes).mean(1), prior], 1))
