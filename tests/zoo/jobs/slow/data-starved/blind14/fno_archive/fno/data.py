import numpy as np
import torch
from torch.utils.data import Dataset


class DarcyArchive(Dataset):
    def __init__(self, path):
        self.archive = np.load(path)
        self.samples = self.archive["coeff"].shape[0]
        self.mean, self.std = float(self.archive["mean"]), float(self.archive["std"])

    def __len__(self):
        return self.samples

    def __getitem__(self, idx):
        coeff = self.archive["coeff"][idx]
        sol = self.archive["sol"][idx]
        x = (torch.from_numpy(coeff) - self.mean) / self.std
        return x.unsqueeze(0), torch.from_numpy(sol).unsqueeze(0) * 10
