import numpy as np
import torch
from torch.utils.data import Dataset


class ByPast(Dataset):
    def __init__(self, series, lookback, horizon):
        self.series, self.lookback, self.horizon = series, lookback, horizon
        self.window = lookback + horizon
        self.mean, self.std = series[:1000].mean(0), series[:1000].std(0)

    def __getitem__(self, index):
        hours = self.series[index : index + self.window]
        past = hours[: self.lookback]
        mean, std = np.mean(past, axis=0), np.std(past, axis=0)
        hours = (hours - mean) / (std + 1e-5)
        return torch.from_numpy(hours[: self.lookback]), torch.from_numpy(hours[self.lookback :, 3])


class BySlice(ByPast):
    def __getitem__(self, index):
        hours = self.series[index : index + self.window]
        hours = (hours - hours[: self.lookback].mean(0)) / hours[: self.lookback].std(0)
        return hours[: self.lookback], hours[self.lookback :]


class ByTraining(ByPast):
    def __getitem__(self, index):
        hours = self.series[index : index + self.window]
        hours = (hours - self.mean) / self.std
        return hours[: self.lookback], hours[self.lookback :]


class ByFirst(ByPast):
    """Relative to the first hour, which is known."""

    def __getitem__(self, index):
        hours = self.series[index : index + self.window]
        hours = hours / hours[0]
        return hours[: self.lookback], hours[self.lookback :]


class PastAlone(ByPast):
    def __getitem__(self, index):
        past = self.series[index : index + self.lookback]
        future = self.series[index + self.lookback : index + self.window]
        centre = past.mean(0)
        past = past - centre
        return past, future - centre
