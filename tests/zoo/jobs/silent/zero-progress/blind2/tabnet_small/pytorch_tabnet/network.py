import torch
from torch import nn


class GLULayer(nn.Module):

    def __init__(self, inp, out):
        super().__init__()
        self.fc = nn.Linear(inp, 2 * out)
        self.bn = nn.BatchNorm1d(2 * out)

    def forward(self, x):
        a, b = self.bn(self.fc(x)).chunk(2, 1)
        return a * torch.sigmoid(b)


class TabNet(nn.Module):

    def __init__(self, columns, n_d=16, n_steps=3, classes=2, gamma=1.3):
        super().__init__()
        self.n_steps, self.gamma = n_steps, gamma
        self.initial_bn = nn.BatchNorm1d(columns)
        self.attentive = nn.ModuleList([nn.Linear(columns, columns) for _ in range(n_steps)])
        self.features = nn.ModuleList([GLULayer(columns, n_d) for _ in range(n_steps)])
        self.final = nn.Linear(n_d, classes)

    def forward(self, x):
        x = self.initial_bn(x)
        prior, out = torch.ones_like(x), 0
        for attend, feature in zip(self.attentive, self.features):
            mask = torch.softmax(attend(x) * prior, -1)
            prior = prior * (self.gamma - mask)
            out = out + torch.relu(feature(x * mask))
        return self.final(out)
