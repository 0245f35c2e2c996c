from collections import Counter

import torch
from torch.utils.data import Dataset

PAD, UNK = 0, 1


class Vocabulary:
    def __init__(self, min_count: int = 2):
        self.min_count = min_count
        self.index = {"<pad>": PAD, "<unk>": UNK}

    def build(self, rows):
        counts = Counter(word for _, words in rows for word in words)
        for word, count in sorted(counts.items()):
            if count >= self.min_count:
                self.index.setdefault(word, len(self.index))
        return self

    def encode(self, words):
        return [self.index.get(word, UNK) for word in words]

    def __len__(self):
        return len(self.index)


class Reviews(Dataset):
    def __init__(self, rows, vocabulary, length=16):
        self.labels = torch.tensor([label for label, _ in rows])
        self.tokens = torch.full((len(rows), length), PAD)
        for i, (_, words) in enumerate(rows):
            ids = vocabulary.encode(words)[:length]
            self.tokens[i, : len(ids)] = torch.tensor(ids)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.tokens[i], self.labels[i]
