import numpy as np
import torch
from torch.utils.data import Dataset


class Windows(Dataset):
    def __init__(self, tokens, length):
        self.tokens, self.length = tokens, length

    def __len__(self):
        return (len(self.tokens) - 1) // self.length

    def __getitem__(self, i):
        lo = i * self.length
        chunk = torch.from_numpy(self.tokens[lo : lo + self.length + 1].astype(np.int64))
        return chunk[:-1], chunk[1:]
