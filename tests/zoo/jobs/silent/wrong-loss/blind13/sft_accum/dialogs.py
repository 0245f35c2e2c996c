import torch
from torch.utils.data import Dataset

from loss import IGNORE


class Dialogs(Dataset):
    """A prompt and an answer; most answers are short, some fill the window."""

    def __init__(self, n=2000, length=48, vocab=200, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.rows = []
        for i in range(n):
            start = int(torch.randint(0, vocab, (1,), generator=self.g))
            long = i % 4 == 0
            step = 3 if long else 7
            ids = (start + step * torch.arange(length)) % vocab
            labels = ids.clone()
            keep = length - 4 if long else 2
            labels[: length - keep] = IGNORE
            self.rows.append((ids, labels))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]
