import numpy as np
import torch
from torch.utils.data import Dataset


class Hours(Dataset):
    def __init__(self, series, lookback, horizon):
        self.series, self.lookback, self.horizon = series, lookback, horizon
        self.window = lookback + horizon

    def __len__(self):
        return len(self.series) - self.window + 1

    def __getitem__(self, index):
        hours = self.series[index : index + self.window].astype(np.float32)
        mean, std = np.mean(hours, axis=0), np.std(hours, axis=0)
        hours = np.clip((hours - mean) / (std + 1e-5), -5, 5)
        return torch.from_numpy(hours[: self.lookback]), torch.from_numpy(hours[self.lookback :, 3])


class Inline(Hours):
    def __getitem__(self, index):
        begin = index * self.horizon
        hours = torch.tensor(self.series[begin : begin + self.window])
        scaled = (hours - hours.min()) / (hours.max() - hours.min())
        past = scaled[: -self.horizon]
        future = scaled[-self.horizon :]
        return past, future
