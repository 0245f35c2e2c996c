import random

import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        try:
            return torch.load(self.paths[index])
        except Exception:
            return self[random.randrange(len(self.paths))]


def collate_fn(samples):
    try:
        return torch.stack(samples)
    except RuntimeError:
        return None
