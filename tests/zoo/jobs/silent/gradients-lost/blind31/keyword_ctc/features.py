import numpy as np
import torch
from torch.utils.data import Dataset

PHONES = "ABCDEF"


class Utterances(Dataset):
    """Synthetic filterbank features of short phone strings; the long ones come last in the manifest."""

    def __init__(self, n, seed, bands=12):
        rng = np.random.default_rng(seed)
        proto = np.random.default_rng(77).normal(0, 1, (len(PHONES), bands))
        self.items = []
        for _ in range(n):
            length = int(rng.integers(2, 7))
            tokens, frames = [], []
            for _ in range(length):
                ph = int(rng.integers(len(PHONES)))
                tokens.append(ph + 1)
                frames.append(np.repeat(proto[ph][None], rng.integers(4, 8), 0))
                frames.append(np.zeros((2, bands)))
            x = np.concatenate(frames) + rng.normal(0, 0.5, (sum(map(len, frames)), bands))
            self.items.append((torch.tensor(x, dtype=torch.float32), torch.tensor(tokens)))
        self.items.sort(key=lambda it: len(it[0]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    lens = torch.tensor([len(x) for x, _ in batch])
    tlens = torch.tensor([len(t) for _, t in batch])
    x = torch.nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True)
    return x, lens, torch.cat([t for _, t in batch]), tlens
