import random

import torch
from torch.utils.data import Dataset

WORDS = [f"w{i}" for i in range(400)]


class Intents(Dataset):
    """Utterances; ids come from a table that was frozen before the last export."""

    def __init__(self, n=1600, length=12, classes=8, seed=5):
        rnd = random.Random(seed)
        self.table = {w: i for i, w in enumerate(WORDS)}
        self.rows = []
        for i in range(n):
            words = [rnd.choice(WORDS) for _ in range(length)]
            if i == 777:
                words[3] = "w400"
            self.rows.append((words, self.table.get(words[0], 0) % classes))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, label = self.rows[i]
        return torch.tensor([self.table.get(w, int(w[1:])) for w in words]), label
