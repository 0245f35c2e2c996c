import random

import torch
from torch.utils.data import Dataset

WORDS = "the quick brown fox jumps over lazy dogs while music plays near an old harbour".split()
NAMES = ["Zoë", "Renée", "Ólafur"]


class Manifest:
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.entries = []
        for i in range(n):
            k = rng.randint(2, 9)
            words = [rng.choice(WORDS) for _ in range(k)]
            if k > 7 and i % 2 == 1:
                words[-1] = rng.choice(NAMES)
            self.entries.append({"text": " ".join(words), "frames": 14 * k + rng.randint(20, 40)})

    def filter(self, max_frames):
        return [e for e in self.entries if e["frames"] <= max_frames]


class Utterances(Dataset):
    def __init__(self, entries, tokenizer, n_mels):
        self.entries = entries
        self.tokenizer = tokenizer
        self.n_mels = n_mels

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, i):
        e = self.entries[i]
        g = torch.Generator().manual_seed(i)
        feats = torch.randn(e["frames"], self.n_mels, generator=g)
        return feats, torch.tensor(self.tokenizer.encode(e["text"]))


def collate(batch):
    feats, labels = zip(*batch)
    fl = torch.tensor([len(f) for f in feats])
    ll = torch.tensor([len(t) for t in labels])
    return (torch.nn.utils.rnn.pad_sequence(feats, batch_first=True), fl,
            torch.nn.utils.rnn.pad_sequence(labels, batch_first=True), ll)
