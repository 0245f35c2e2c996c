import collections
import json

import torch


class Vocab:
    def __init__(self, itos):
        self.itos = itos
        self.stoi = collections.defaultdict(int, {w: i for i, w in enumerate(itos)})

    @classmethod
    def build(cls, rows, max_vocab, min_freq=1):
        freq = collections.Counter(w for words, _ in rows for w in words)
        itos = [w for w, c in freq.most_common(max_vocab) if c >= min_freq]
        return cls(["_unk_", "_pad_"] + itos)

    def save(self, path):
        with open(path, "w") as f:
            json.dump(self.itos, f)

    @classmethod
    def load(cls, path):
        with open(path) as f:
            return cls(json.load(f))

    def numericalize(self, rows):
        return torch.tensor([[self.stoi[w] for w in words] for words, _ in rows]), torch.tensor([y for _, y in rows])
