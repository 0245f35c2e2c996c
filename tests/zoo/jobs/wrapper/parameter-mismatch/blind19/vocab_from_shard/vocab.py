import random

STEMS = ["lo", "mi", "ka", "re", "tu", "sen", "vor", "ble", "gra", "pho"]


def corpus(n=1200, seed=7):
    rng = random.Random(seed)
    docs = []
    for _ in range(n):
        words = ["".join(rng.choices(STEMS, k=rng.choice([1, 2, 2, 3]))) for _ in range(12)]
        docs.append((words, int(sum(len(w) for w in words) > 60)))
    return docs


class Vocab:
    def __init__(self, docs, min_count=2):
        counts = {}
        for words, _ in docs:
            for w in words:
                counts[w] = counts.get(w, 0) + 1
        self.index = {w: i + 1 for i, w in enumerate(sorted(w for w, c in counts.items() if c >= min_count))}

    def __len__(self):
        return len(self.index) + 1

    def encode(self, words):
        return [self.index.get(w, 0) for w in words]
