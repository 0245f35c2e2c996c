import h5py
import torch
from torch.utils.data import Dataset


class DemandDataset(Dataset):
    """Weekly demand of one product per row."""

    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.x = torch.from_numpy(f["x"][:])
            self.y = torch.from_numpy(f["y"][:])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]
