import h5py
import torch
from torch.utils.data import Dataset


class DailyRecordings(Dataset):
    def __init__(self, path, missing, seed):
        self.path, self.missing, self.seed = path, missing, seed
        with h5py.File(path, "r") as handle:
            self.days = handle["signals"].shape[0]
        self.handle = None

    def __len__(self):
        return self.days

    def __getitem__(self, index):
        if self.handle is None:
            self.handle = h5py.File(self.path, "r")
        signal = torch.from_numpy(self.handle["signals"][index])
        g = torch.Generator().manual_seed(self.seed + index)
        observed = torch.rand(signal.shape, generator=g) > self.missing
        return signal * observed, observed.float(), signal
