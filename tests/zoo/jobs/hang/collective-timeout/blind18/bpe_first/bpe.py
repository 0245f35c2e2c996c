from collections import Counter


class BPE:
    def __init__(self, merges):
        self.n_merges = merges
        self.merges = []

    def learn(self, words):
        vocab = Counter(tuple(w) for w in words)
        for _ in range(self.n_merges):
            pairs = Counter()
            for w, c in vocab.items():
                for a, b in zip(w, w[1:]):
                    pairs[a, b] += c
            if not pairs:
                break
            best = max(pairs, key=lambda p: (pairs[p], p))
            self.merges.append(best)
            vocab = Counter({self.apply(w, best): c for w, c in vocab.items()})
        return self

    @staticmethod
    def apply(w, pair):
        out, i = [], 0
        while i < len(w):
            if i + 1 < len(w) and (w[i], w[i + 1]) == pair:
                out.append(w[i] + w[i + 1])
                i += 2
            else:
                out.append(w[i])
                i += 1
        return tuple(out)
