import numpy as np
import torch
from torch.utils.data import Dataset


class FieldPairs(Dataset):
    def __init__(self, root, lead):
        self.frames = np.load(f"{root}/frames.npy", mmap_mode="r")
        self.lead = lead
        self.channels = self.frames.shape[1]

    def __len__(self):
        return len(self.frames) - self.lead

    def __getitem__(self, i):
        now = torch.from_numpy(self.frames[i].copy()).float()
        return now, torch.from_numpy(self.frames[i + self.lead].copy()).float()
