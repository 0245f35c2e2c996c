import pathlib

import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, folder):
        self.paths = sorted(pathlib.Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.load(self.paths[index])
