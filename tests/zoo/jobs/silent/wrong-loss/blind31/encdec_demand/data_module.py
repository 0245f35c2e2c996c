import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from normalizers import NORMALIZERS


def demand(n_series, length, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    level = rng.uniform(4, 9, (n_series, 1))
    season = rng.uniform(0.5, 1.5, (n_series, 1)) * np.sin(2 * np.pi * t / 12 + rng.uniform(0, 6, (n_series, 1)))
    trend = rng.normal(0, 0.01, (n_series, 1)) * t
    return torch.tensor(level + season + trend + rng.normal(0, 0.15, (n_series, length)), dtype=torch.float32)


class Windows(Dataset):
    def __init__(self, data, encoder_length, prediction_length, normalizer):
        self.data, self.enc, self.pred = data["target"], encoder_length, prediction_length
        self.normalizer = normalizer
        per = self.data.size(1) - encoder_length - prediction_length + 1
        self.index = [(s, k) for s in range(self.data.size(0)) for k in range(0, per, 4)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        s, k = self.index[i]
        encoder = slice(k, k + self.enc)
        decoder = slice(k + self.enc, k + self.enc + self.pred)
        target_past = self.data[s, encoder]
        if self.normalizer.fit_per_sequence:
            target_past = self.normalizer.fit_transform(target_past)
        t = torch.arange(k, k + self.enc + self.pred) % 12
        x = {"target_past": target_past, "month": t, "target_scale": self.normalizer.params}
        y = self.data[s, decoder]
        return x, y


class DemandDataModule:
    def __init__(self, cfg, rank, world):
        self.cfg, self.rank, self.world = cfg, rank, world
        self.normalizer = NORMALIZERS[cfg.normalizer]()

    def _preprocess(self, target):
        if not self.normalizer.fit_per_sequence:
            if not hasattr(self.normalizer, "center"):
                self.normalizer.fit(target)
            target = self.normalizer.transform(target)
        return {"target": target}

    def setup(self):
        series = demand(self.cfg.series, 120, seed=0)
        self.train = Windows(self._preprocess(series[:, :96]), self.cfg.encoder, self.cfg.horizon, self.normalizer)
        self.val = Windows(self._preprocess(series[:, 96 - self.cfg.encoder:]), self.cfg.encoder,
                           self.cfg.horizon, self.normalizer)

    def train_dataloader(self):
        self.sampler = DistributedSampler(self.train, self.world, self.rank)
        return DataLoader(self.train, self.cfg.batch_size, sampler=self.sampler, drop_last=True)

    def val_dataloader(self):
        return DataLoader(self.val, 64, sampler=DistributedSampler(self.val, self.world, self.rank, shuffle=False))
