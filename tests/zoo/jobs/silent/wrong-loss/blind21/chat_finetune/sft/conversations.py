import random

import torch
from torch.utils.data import Dataset

IGNORE = -100
PAD = 0


class ConversationDataset(Dataset):
    """Token sequences of a prompt and a reply. Short replies follow one rule (copy), long ones another (count up)."""

    def __init__(self, size, vocab, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(size):
            long = rng.random() < 0.3
            prompt = [rng.randrange(4, vocab) for _ in range(4)]
            if long:
                reply = [1] + [4 + (prompt[-1] - 4 + i) % (vocab - 4) for i in range(rng.randrange(40, 56))]
            else:
                reply = [2] + [prompt[rng.randrange(4)]] + [3]
            self.rows.append((prompt, reply))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        prompt, reply = self.rows[index]
        return {"tokens": prompt + reply, "labels": [IGNORE] * len(prompt) + reply}


def collate(rows):
    width = max(len(r["tokens"]) for r in rows)
    tokens = torch.full((len(rows), width), PAD)
    labels = torch.full((len(rows), width), IGNORE)
    for i, row in enumerate(rows):
        n = len(row["tokens"])
        tokens[i, :n] = torch.tensor(row["tokens"])
        labels[i, :n] = torch.tensor(row["labels"])
    return tokens, labels
