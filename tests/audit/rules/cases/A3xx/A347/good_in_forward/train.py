import torch
from torch import nn
from torch.utils.data import Dataset


class Windows(Dataset):
    def __getitem__(self, i):
        past, future = self.data[i : i + 24], self.data[i + 24 : i + 30]
        mean, std = past.mean(), past.std()
        past = (past - mean) / std
        return {"past": past, "mean": mean, "std": std}, future


class Net(nn.Module):
    def forward(self, x):
        return self.net(x["past"]) * x["std"][:, None] + x["mean"][:, None]

    def predict(self, x):
        out = self.net(x["past"])
        return out * x["std"] + x["mean"]


def train(model, loader, optimizer, criterion):
    for x, future in loader:
        loss = criterion(model(x), future)
        loss.backward()
        optimizer.step()
