import random
from collections import Counter

TAGS = ("O", "PER", "LOC", "ORG")
_ROOTS = ["anna", "berlin", "acme", "walks", "lives", "in", "works", "for", "the", "and", "paris", "bob", "globex"]


def sentences(n=1200, seed=13):
    rng = random.Random(seed)
    out = []
    for i in range(n):
        words, tags = [], []
        for _ in range(rng.randint(4, 12)):
            root = rng.choice(_ROOTS)
            rare = rng.random() < 0.04
            words.append(f"{root}{i}" if rare else root)
            tags.append({"anna": 1, "bob": 1, "berlin": 2, "paris": 2, "acme": 3, "globex": 3}.get(root, 0))
        out.append((words, tags))
    return out


class Vocab:
    def __init__(self, counter, min_count):
        self.words = ["<pad>", "<unk>"] + sorted(w for w, c in counter.items() if c >= min_count)
        self.index = {w: i for i, w in enumerate(self.words)}

    @classmethod
    def from_corpus(cls, corpus, min_count=1):
        return cls(Counter(w for words, _ in corpus for w in words), min_count)

    def __len__(self):
        return len(self.words)

    def encode(self, words):
        return [self.index.get(w, 1) for w in words]
