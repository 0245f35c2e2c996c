import collections
import json


def learn_merges(words, n):
    vocab = collections.Counter(tuple(w) for w in words)
    merges = []
    for _ in range(n):
        pairs = collections.Counter()
        for w, c in vocab.items():
            for p in zip(w, w[1:]):
                pairs[p] += c
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        new = collections.Counter()
        for w, c in vocab.items():
            out, i = [], 0
            while i < len(w):
                if i + 1 < len(w) and (w[i], w[i + 1]) == best:
                    out.append(w[i] + w[i + 1])
                    i += 2
                else:
                    out.append(w[i])
                    i += 1
            new[tuple(out)] += c
        vocab = new
    return merges


class Bpe:
    def __init__(self, merges):
        self.rank = {tuple(m): i for i, m in enumerate(merges)}
        self.ids = {}
        for ch in "abcdefghij":
            self.ids[ch] = len(self.ids)
        for a, b in merges:
            self.ids.setdefault(a + b, len(self.ids))

    def encode(self, w):
        w = list(w)
        while len(w) > 1:
            k = min(range(len(w) - 1), key=lambda i: self.rank.get((w[i], w[i + 1]), 1 << 30))
            if (w[k], w[k + 1]) not in self.rank:
                break
            w[k:k + 2] = [w[k] + w[k + 1]]
        return [self.ids[x] for x in w]

    @classmethod
    def load(cls, path):
        return cls([tuple(m) for m in json.load(open(path))])
