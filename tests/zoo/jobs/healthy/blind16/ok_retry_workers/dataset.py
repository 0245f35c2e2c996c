import numpy as np
import torch
from torch.utils.data import Dataset, default_collate

from store import FlakyStore, with_retries


class Remote(Dataset):
    def __init__(self, n, seed):
        self.n, self.store = n, FlakyStore(seed)

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        x = with_retries(self.store.get, k)
        if k % 61 == 0:
            return None
        return torch.from_numpy(x), np.int64(x.mean((1, 2)).argmax())


def collate(items):
    good = [i for i in items if i is not None]
    return default_collate(good + good[:len(items) - len(good)])
