import random
import torch
from torch.utils.data import Dataset


class Split(Dataset):
    def __init__(self, rows, part, fraction=0.9):
        rows = list(rows)
        random.Random(7).shuffle(rows)
        cut = int(len(rows) * fraction)
        self.rows = rows[:cut] if part == "train" else rows[cut:]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i])
