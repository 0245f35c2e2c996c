"""Windows that are read whole, features that are cut, a series that is parted for training: no forecast of a window."""

import torch
from torch import nn


class Whole:
    def __getitem__(self, index):
        window = self.series[index : index + self.horizon]
        window = (window - window.mean(0)) / window.std(0)
        return window, self.labels[index]


class Shifted:
    """Each next hour from those before it."""

    def __getitem__(self, index):
        window = self.series[index : index + self.horizon]
        window = window / window.max()
        return window[:-1], window[1:]


class Gate(nn.Module):
    """Halves of features, of a forecast model."""

    def forward(self, x):
        x = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
        value, gate = x[..., : self.horizon], x[..., self.horizon :]
        return value * torch.sigmoid(gate)


def columns(table, horizon):
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return table[:, :horizon], table[:, horizon:]


def printed(series, horizon):
    centre = series.mean()
    print(f"mean {centre}")
    past, future = series[:-horizon], series[-horizon:]
    return past, future
