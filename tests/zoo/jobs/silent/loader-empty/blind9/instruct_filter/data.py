import random

import torch
from torch.utils.data import Dataset


def conversations(n=600):
    rng = random.Random(0)
    for _ in range(n):
        yield [{"role": "user", "content": [rng.randrange(50) for _ in range(rng.randrange(4, 20))]},
               {"role": "assistant", "content": [rng.randrange(50) for _ in range(rng.randrange(4, 20))]}]


class Packed(Dataset):
    def __init__(self, block, min_len):
        rows = []
        for talk in conversations():
            ids = [t for turn in talk if turn["role"] == "assistant" for t in turn["content"]]
            if len(ids) >= min_len:
                rows.append(ids)
        flat = [t for ids in rows for t in ids]
        self.blocks = [torch.tensor(flat[i : i + block]) for i in range(0, len(flat) - block + 1, block)]

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, i):
        return self.blocks[i]
